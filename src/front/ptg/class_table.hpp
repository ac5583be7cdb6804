// The classes of a parameterized task graph in the form used at run time: names resolved, dependence functions
// inverted. The predecessors and successors of a task follow from its indices by formulas.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "front/ptg/interval.hpp"
#include "front/ptg/task_instance.hpp"
#include "front/ptg/walk.hpp"

namespace fairlead::ptg {

/// The values of the indices of a task, or of an edge, each at its place.
using Numbers = std::array<std::int64_t, Places::most>;

/// A datum of a collection, its indices given by formulas.
struct MemoryPlace {
  std::uint32_t collection = 0;
  std::vector<Formula> indices;
  /// The position in the collection, present only if the datum exists for all tasks.
  std::optional<Formula> unchecked_position{};

  /// The position in a collection with these extents, for the index values of a task; -1 if out of range.
  std::int64_t position(const std::vector<std::int64_t>& extents, const std::int64_t* numbers) const {
    if (unchecked_position) [[likely]]
      return (*unchecked_position)(numbers);
    std::int64_t at = 0, stride = 1;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::int64_t index = indices[i](numbers), extent = extents[i];
      if (index < 0 || index >= extent) return -1;
      at += index * stride;
      stride *= extent;
    }
    return at;
  }
};

/// One of the alternative sources of a flow's value.
struct Input {
  std::optional<Conditions> condition;
  Place::Kind kind = Place::Kind::nothing;
  MemoryPlace memory;  ///< for a fresh datum: its shape is that of data of this collection
  /// For a fresh datum: its shape is that of this flow's datum in the same task.
  std::optional<std::uint16_t> like_flow;
  std::vector<Loop> ranges;      ///< for a control: the ranges of tasks that it waits for
  Conditions each;               ///< which tasks of the ranges count
  std::uint32_t from_class = 0;  ///< for a task as source: its class
  /// The parameters of that task, as formulas over the task's own indices and the ranges.
  std::vector<Formula> indices;
  std::uint16_t from_flow = 0;
  const Alternative* definition = nullptr;  ///< where the class's definition states it
};

/// An edge of the graph, for all tasks of the producing class: which tasks receive the value of a flow.
struct ClassEdge {
  std::uint32_t to_class = 0;
  std::uint16_t to_flow = 0;
  bool to_writer = false;  ///< the receivers change the value
  Part part{};             ///< the part of the value that the receivers read
  const Alternative* definition =
      nullptr;              ///< the producer's statement of the edge; null: derived from the receiver's input
  Conditions before;        ///< a condition over the indices of the producer
  std::vector<Loop> loops;  ///< over further places, one iteration per receiver
  std::vector<std::pair<std::uint8_t, Formula>> solved;  ///< places computed for `after`
  Conditions after;                                      ///< a condition over all of these places
  std::vector<Formula> indices;  ///< the parameters of the receiver, over all of these places
  /// The receiver's key. Present only if the receiver is proven to exist and to take the value; otherwise checked at
  /// run time.
  std::optional<Formula> key;
  /// The distance between the keys of consecutive receivers of the only loop, if nothing else needs a check;
  /// otherwise 0.
  std::int64_t key_stride = 0;
  std::uint8_t slot = 0;     ///< the slot of the receiver's record for the value
  bool to_control = false;   ///< the receiving flow is a control: no value is stored
  bool makes_ready = false;  ///< the value is the receiver's only input
  /// The receiver may not exist and is then skipped (ClassDefinition::skips_missing_receivers). False if it is proven
  /// to exist.
  bool may_be_missing = false;

  void find_parameters(const std::int64_t* numbers, std::int64_t* parameters) const {
    for (std::size_t i = 0; i < indices.size(); ++i) parameters[i] = indices[i](numbers);
  }
  bool holds(std::int64_t* numbers) const {
    for (const auto& [place, formula] : solved) numbers[place] = formula(numbers);
    return after(numbers);
  }
};

/// A datum of a collection in which a flow's value is stored at the end.
struct StoredOutput {
  Conditions condition;
  MemoryPlace memory;
  std::vector<Loop> ranges;
  Conditions each;            ///< like `condition`, over the ranges' indices as well
  bool written_back = false;  ///< a write-back task copies the value there if it is in another datum
  const Alternative* definition = nullptr;  ///< where the class's definition states it
};

/// A flow of a class.
struct TableFlow {
  std::string name;
  bool control = false;
  AccessMode mode = AccessMode::read;
  std::vector<Input> inputs;
  std::vector<ClassEdge> edges;
  std::vector<StoredOutput> stored_outputs;
  /// The readers of its value are counted: a task changes the value while other tasks may still read it, or the datum
  /// must be returned after the last reader.
  bool counted = false;
  bool may_count = false;         ///< the value that it has may be one with counted readers
  bool may_repeat = false;        ///< two of its stated edges may name the same task, so each end is checked
  bool surely_from_task = false;  ///< for all index values, it waits for a task
  /// Computes surely_from_task from the inputs.
  bool comes_surely_from_task() const;
};

/// What all tasks of a class have in common, and the formulas over a task's indices.
struct TableClass {
  std::string name;
  Places places;                         ///< of its indices, in their order
  std::vector<Loop> loops;               ///< one per index
  std::vector<std::uint8_t> parameters;  ///< the places of the indices that are not derived
  std::vector<Interval> bounds;          ///< the interval of the index at each place
  std::vector<TableFlow> flows;
  std::size_t data_flows = 0;    ///< flows with data; they precede the controls
  std::int32_t sure_inputs = 0;  ///< flows with data that always come from a task
  /// All other flows with inputs: which tasks they wait for depends on the indices.
  std::vector<std::uint16_t> other_inputs;
  std::vector<std::uint16_t> written;  ///< flows that change their value
  /// Flows to process when a task finishes: they have receivers, a datum to be stored in, or counted readers.
  std::vector<std::uint16_t> notified_flows;
  /// Parts of flows that are sent to other ranks by themselves. An output is numbered by its flow; a part, by the
  /// number of flows plus its position here.
  std::vector<std::pair<std::uint16_t, Part>> parts;
  /// A task may wait for the readers of the datum that it takes from memory and changes.
  bool may_await_memory = false;
  bool one_input = false;    ///< each task waits for at most one task
  bool same_places = false;  ///< no index is derived, so the parameters are at places 0, 1, ...
  std::vector<Formula> numbers;
  Formula priority;
  std::optional<MemoryPlace> runs_at;  ///< with several ranks: tasks run on the rank that owns this datum
  std::shared_ptr<const ClassDefinition> definition;

  /// The flow and the part of the output with this number.
  std::pair<std::uint16_t, Part> output(std::size_t number) const {
    if (number < flows.size()) return {static_cast<std::uint16_t>(number), Part{}};
    return parts.at(number - flows.size());
  }
  /// The inverse of output(): the number of the output for this flow and part.
  std::size_t output_number(std::size_t flow, const Part& part) const {
    const auto found =
        std::find(parts.begin(), parts.end(), std::pair(static_cast<std::uint16_t>(flow), part));
    return found == parts.end() ? flow : flows.size() + static_cast<std::size_t>(found - parts.begin());
  }

  /// The first key of its tasks.
  std::uint64_t first_key = 0;
  /// For each parameter: its smallest value, the number of possible values, and the distance between the keys of
  /// tasks that differ by 1 in it.
  struct Axis {
    std::int64_t first = 0;
    std::uint64_t count = 0, stride = 0;
  };
  std::vector<Axis> axes;
  std::uint64_t key_count = 1;  ///< the number of keys reserved for it

  /// True if, judged by the flows, each task waits for at most one task.
  bool waits_for_one() const;
  /// The key of the task with these parameters; nothing if a parameter is outside its interval.
  std::optional<std::uint64_t> key_of(const std::int64_t* values) const noexcept {
    std::uint64_t at = first_key;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto offset = static_cast<std::uint64_t>(values[i] - axes[i].first);
      if (offset >= axes[i].count) return std::nullopt;
      at += offset * axes[i].stride;
    }
    return at;
  }
  /// The inverse of name_of().
  void parameters_of(std::uint64_t its_name, std::int64_t* values) const noexcept;
  /// Fills in the values of all indices, at their places, from the parameters in a task's record.
  void place(const std::int32_t* values, std::int64_t* at) const {
    if (same_places) [[likely]] {
      // Every record has that many slots; a fixed count is faster than a variable one.
      for (std::size_t i = 0; i < TaskInstance::fixed_slots; ++i) at[i] = values[i];
      for (std::size_t i = TaskInstance::fixed_slots; i < parameters.size(); ++i) at[i] = values[i];
      return;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) at[parameters[i]] = values[i];
    place_derived(at);
  }
  /// Computes the derived indices.
  void place_derived(std::int64_t* at) const {
    for (const Loop& loop : loops)
      if (loop.derived) at[loop.place] = loop.first.front().dividend(at);
  }
  /// Tasks are ready as soon as one input has arrived.
  bool ready_at_once() const noexcept { return one_input && !may_await_memory; }
  /// The slot of a task's record for the value of a flow with data.
  std::uint8_t slot_of(std::size_t flow) const noexcept {
    return static_cast<std::uint8_t>(parameters.size() + flow);
  }
  /// The parameter at position i of a task's name in messages.
  std::size_t display_index(std::size_t i) const {
    return definition->called.empty() ? i : definition->called[i];
  }
  /// The task's name, "gemm(1, 4, 2)".
  std::string text(const std::int32_t* values) const;
  /// The number of tasks. Throws UsageError as StoppableWalk; WalkStopped once `stop` is set.
  std::uint64_t count(const std::atomic<bool>* stop = nullptr) const;
};

/// The input that applies for these index values: the first with a true condition; null if there is none.
inline const Input* input_of(const TableFlow& flow, const std::int64_t* numbers) {
  for (const Input& input : flow.inputs)
    if (!input.condition || (*input.condition)(numbers)) return &input;
  return nullptr;
}

/// All collections and classes of a graph.
struct ClassTable {
  std::vector<std::shared_ptr<const CollectionDefinition>> collections;
  /// By collection: a task may change a datum that another task takes from memory.
  std::vector<bool> has_memory_conflicts;
  std::vector<TableClass> classes;
  std::uint64_t names = 0;       ///< the number of keys of all classes
  bool has_write_backs = false;  ///< there are write-back tasks, so the readers of all values are counted
  const std::atomic<bool>* stop = nullptr;  ///< once set, iterations over tasks throw WalkStopped

  std::string text_of(const TaskInstance& task) const {
    return classes[task.task_class].text(task.parameters());
  }
};

/// Builds the table. Throws UsageError for an invalid definition, with the reason, the class and its source line.
/// `over_ranks`: values may go to other ranks, so write-back tasks are added and all readers are counted.
ClassTable make_class_table(const std::vector<std::shared_ptr<const ClassDefinition>>& definitions,
                            bool over_ranks = false);

/// "gemm, defined at file:line", with the column if it is known.
std::string text_of(const ClassDefinition& definition);
/// Throws the error of an iteration over the class's tasks again, with the class and where it is defined.
[[noreturn]] void throw_in(const TableClass& of, const UsageError& error);
/// Where the definition states these places: "file:line:column"; if unknown, the class's text_of().
std::string source_line_of(const Alternative& places, const ClassDefinition& of);

}  // namespace fairlead::ptg
