// An unrolled parameterized graph: every task, with its inputs and outputs as stated. Plain data, filled from JDF or
// from C++, for checks and drawings of a whole graph; it is not executed.
//
// An edge is stated twice, by its producer and by its consumer. Both statements are kept; check.hpp compares them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "front/unrolled/flow_access.hpp"

namespace fairlead::unrolled {

using TaskId = std::uint32_t;
/// In place of an index: there is none.
inline constexpr std::uint32_t none = UINT32_MAX;

/// A flow of a class.
struct ClassFlow {
  std::string name;
  FlowAccess access = FlowAccess::read;
  std::string where;       ///< "file.jdf:12:3"
  bool untouched = false;  ///< the body neither reads nor changes the value, regardless of the access
};

/// A class of tasks.
struct Class {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ClassFlow> flows;
  std::string where;
};

/// A task.
struct Task {
  std::uint32_t of = 0;            ///< index of the class
  std::uint32_t first_number = 0;  ///< index in TaskGraph::numbers of its first parameter
  std::int32_t priority = 0;
};

/// An input or output, as stated by one task; it describes the other end of the edge.
struct EdgeEnd {
  enum class Kind : std::uint8_t {
    task,    // a flow of a task, which need not exist
    memory,  // a datum of a collection
    fresh,   // NEW: memory without a value
    null,    // explicitly nothing
  };
  TaskId task = none;      ///< the task that states it
  std::uint16_t flow = 0;  ///< the flow of that task
  Kind kind = Kind::null;
  std::uint32_t of = none;    ///< index of the class or the collection at the other end
  std::uint16_t of_flow = 0;  ///< the flow of the task at the other end
  std::uint16_t count = 0;    ///< the number of parameters or indices
  std::uint32_t first_number = 0;
  std::uint32_t place = none;  ///< where it is stated: index in TaskGraph::source_lines
  std::uint32_t part = none;   ///< the part of a datum, if stated: index in TaskGraph::parts
};

/// The datum that determines where a task runs.
struct RunsAt {
  std::uint32_t of = none;  ///< the collection; none: not stated
  std::uint32_t first_number = 0;
  std::uint16_t count = 0;
  std::uint32_t place = none;  ///< where it is stated: index in TaskGraph::source_lines
};

/// A graph. Tasks, ends and placements refer to the other arrays by index.
struct TaskGraph {
  std::vector<Class> classes;
  std::vector<std::string> collections;
  /// By collection: the number of data along each index, -1 if unknown. Empty: nothing is known.
  std::vector<std::vector<std::int64_t>> extents;
  std::vector<Task> tasks;                ///< grouped by class
  std::vector<std::int32_t> numbers;      ///< parameters and indices, referred to by their first position
  std::vector<EdgeEnd> inputs;            ///< in the order of the tasks
  std::vector<EdgeEnd> outputs;           ///< in the order of the tasks
  std::vector<std::string> source_lines;  ///< source lines
  std::vector<std::string> parts;
  std::vector<RunsAt> runs_at;  ///< by task; empty if not needed
  /// Results without an output are reported, as in JDF they are lost. In C++ a task may change data without stating
  /// it as an output.
  bool warns_of_lost_results = false;

  std::span<const std::int32_t> parameters(TaskId task) const {
    return {numbers.data() + tasks[task].first_number, classes[tasks[task].of].parameters.size()};
  }
  std::span<const std::int32_t> indices(const EdgeEnd& end) const {
    return {numbers.data() + end.first_number, end.count};
  }
  const ClassFlow& flow(TaskId task, std::uint16_t flow) const { return classes[tasks[task].of].flows[flow]; }
  std::string_view where(const EdgeEnd& end) const {
    return end.place == none ? std::string_view() : source_lines[end.place];
  }
};

/// "GEMM(0,2,1)" and "A(3,1)".
std::string label(std::string_view name, std::span<const std::int32_t> numbers);
std::string label(const TaskGraph& graph, TaskId task);
/// "C of GEMM(0,2,1)".
std::string label(const TaskGraph& graph, TaskId task, std::uint16_t flow);
/// The other end, in the same form; "NEW" or "NULL" if there is none.
std::string label(const TaskGraph& graph, const EdgeEnd& end);

/// A hash table that numbers tuples: tasks by class and parameters, data by collection and indices. The tuples are
/// not copied.
class TupleIndex {
 public:
  explicit TupleIndex(std::size_t expected);
  /// The number of the tuple. A new one gets the next number, from 0.
  std::uint32_t add(std::uint32_t of, std::span<const std::int32_t> numbers);
  /// The number of the tuple, or `none`.
  std::uint32_t find(std::uint32_t of, std::span<const std::int32_t> numbers) const;
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }

 private:
  struct Entry {
    std::uint32_t of;
    std::span<const std::int32_t> numbers;
  };
  std::size_t slot(std::uint32_t of, std::span<const std::int32_t> numbers) const;
  void grow();

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace fairlead::unrolled
