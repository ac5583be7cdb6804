// A parameterized graph, written out: every task, and what each says of its inputs and outputs. Plain data that any front
// end can fill, JDF or C++, for those who look at a whole graph: check.hpp and draw.hpp. Nothing runs from it.
//
// An edge is told twice, by its producer and by its consumer, and kept so: whether they agree is what is looked at.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::unrolled {

using TaskId = std::uint32_t;
inline constexpr std::uint32_t none = UINT32_MAX;

enum class Access : std::uint8_t { read, write, read_write, control };

struct Flow {
  std::string name;
  Access access = Access::read;
  std::string where;  ///< "file.jdf:12:3"
  bool untouched =
      false;  ///< the body leaves the value as it is, and does not read it, whatever the access says
};

struct Class {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<Flow> flows;
  std::string where;
};

struct Task {
  std::uint32_t of = 0;            ///< the class
  std::uint32_t first_number = 0;  ///< its parameters are Graph::numbers from here on
  std::int32_t priority = 0;
};

/// One end of an edge, as the task at the other end says.
struct End {
  enum class Kind : std::uint8_t {
    task,    // a flow of a task, which need not exist
    memory,  // a datum of a collection
    fresh,   // NEW: memory without a value
    null,    // nothing, explicitly
  };
  TaskId task = none;      ///< who says so, of his
  std::uint16_t flow = 0;  ///< flow
  Kind kind = Kind::null;
  std::uint32_t of = none;    ///< the class or the collection
  std::uint16_t of_flow = 0;  ///< of a task
  std::uint16_t count = 0;    ///< how many parameters or indices
  std::uint32_t first_number = 0;
  std::uint32_t place = none;  ///< Graph::places: where it is said
  std::uint32_t part = none;   ///< Graph::parts: which part of a datum, if that is said
};

/// The datum beside which a task runs.
struct RunsAt {
  std::uint32_t of = none;  ///< the collection; none: nobody says where
  std::uint32_t first_number = 0;
  std::uint16_t count = 0;
  std::uint32_t place = none;  ///< Graph::places: where it is said
};

struct Graph {
  std::vector<Class> classes;
  std::vector<std::string> collections;
  /// By collection: how many data it has by each index, -1 where that is unknown. Empty: of none is anything known.
  std::vector<std::vector<std::int64_t>> extents;
  std::vector<Task> tasks;  ///< a class's one after another
  std::vector<std::int32_t> numbers;
  std::vector<End> inputs;   ///< in the order of the tasks
  std::vector<End> outputs;  ///< likewise
  std::vector<std::string> places;
  std::vector<std::string> parts;
  std::vector<RunsAt> runs_at;  ///< by task, if that is wanted
  /// A result without an output is lost, as in JDF; where graphs are written in C++ a task may change data for their own sake.
  bool warns_of_lost_results = false;

  std::span<const std::int32_t> parameters(TaskId task) const {
    return {numbers.data() + tasks[task].first_number, classes[tasks[task].of].parameters.size()};
  }
  std::span<const std::int32_t> indices(const End& end) const {
    return {numbers.data() + end.first_number, end.count};
  }
  const Flow& flow(TaskId task, std::uint16_t flow) const { return classes[tasks[task].of].flows[flow]; }
  std::string_view where(const End& end) const {
    return end.place == none ? std::string_view() : places[end.place];
  }
};

/// "GEMM(0,2,1)", and "A(3,1)".
std::string label(std::string_view name, std::span<const std::int32_t> numbers);
std::string label(const Graph& graph, TaskId task);
/// "C of GEMM(0,2,1)".
std::string label(const Graph& graph, TaskId task, std::uint16_t flow);
/// What an end leads to, in the same words.
std::string label(const Graph& graph, const End& end);

/// Finds numbers by what they belong to: a task by its class and parameters, a place by its collection and indices.
class NumberIndex {
 public:
  explicit NumberIndex(std::size_t expected);
  /// The number that was given to it; the next one (they are given from 0 on) if it is new.
  std::uint32_t add(std::uint32_t of, std::span<const std::int32_t> numbers);
  /// `none` if it is not there.
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
