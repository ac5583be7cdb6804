// The classes of a parameterized task graph as they are run: all names looked up, all maps turned round. What
// a task waits for, and which tasks wait for it, follow from its indices alone, by formulas.
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

#include "front/ptg/active_task.hpp"
#include "front/ptg/interval.hpp"
#include "front/ptg/walk.hpp"

namespace fairlead::ptg {

/// The numbers of a task's indices, or of an edge's, at their places.
using Numbers = std::array<std::int64_t, Places::most>;

/// A datum of a collection.
struct MemoryPlace {
  std::uint32_t collection = 0;
  std::vector<Formula> indices;
  /// Where in the collection it is, if it surely is in it, for all tasks.
  std::optional<Formula> surely_at{};

  /// Of those in the collection, whose extents these are, for the numbers of a task. -1 if there is none.
  std::int64_t position(const std::vector<std::int64_t>& extents, const std::int64_t* numbers) const {
    if (surely_at) [[likely]]
      return (*surely_at)(numbers);
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

/// One of the places that a flow's value comes from.
struct Input {
  std::optional<Conditions> condition;
  Place::Kind kind = Place::Kind::nothing;
  MemoryPlace memory;                      ///< or, of a fresh datum, the collection that it is like
  std::optional<std::uint16_t> like_flow;  ///< or the flow of the task, already there, whose datum it is like
  std::vector<Loop> ranges;                ///< of a control: over which it waits
  Conditions each;                         ///< of those, the ones for which this holds
  std::uint32_t from_class = 0;            ///< of a task
  std::vector<Formula> indices;            ///< its parameters, over these numbers and those of the ranges
  std::uint16_t from_flow = 0;
  const Alternative* said = nullptr;  ///< of the class's definition
};

/// Which tasks of a class get the value of a flow.
struct Edge {
  std::uint32_t to_class = 0;
  std::uint16_t to_flow = 0;
  bool to_writer = false;  ///< they change it
  Part part{};             ///< what of it they look at
  const Alternative* said =
      nullptr;              ///< where the giver states it; null: found out from the receiver's input
  Conditions before;        ///< over the numbers of the task that it comes from
  std::vector<Loop> loops;  ///< go on with further places
  std::vector<std::pair<std::uint8_t, Formula>> solved;  ///< places that `after` needs besides
  Conditions after;                                      ///< over all of these
  std::vector<Formula> indices;                          ///< the parameters of the task, likewise
  /// Its name, if it surely is one of the class's. Else that has to be looked at.
  std::optional<Formula> name;
  /// It goes to neighbours, whose names are so far apart, and nothing more has to be looked at; 0: not so.
  std::int64_t name_growth = 0;
  std::uint8_t slot = 0;     ///< of the task's record: where the value is noted down
  bool to_control = false;   ///< nothing is
  bool makes_ready = false;  ///< surely nothing else has to come

  void find_parameters(const std::int64_t* numbers, std::int64_t* parameters) const {
    for (std::size_t i = 0; i < indices.size(); ++i) parameters[i] = indices[i](numbers);
  }
  bool holds(std::int64_t* numbers) const {
    for (const auto& [place, formula] : solved) numbers[place] = formula(numbers);
    return after(numbers);
  }
};

/// A datum in which a value is left.
struct Leaving {
  Conditions condition;
  MemoryPlace memory;
  std::vector<Loop> ranges;
  Conditions each;                    ///< over its own indices as well
  bool comes_home = false;            ///< a task takes it there, if it is elsewhere
  const Alternative* said = nullptr;  ///< of the class's definition
};

struct TableFlow {
  std::string name;
  bool control = false;
  AccessMode mode = AccessMode::read;
  std::vector<Input> inputs;
  std::vector<Edge> edges;
  std::vector<Leaving> leavings;
  /// Who gets the value is counted: somebody changes it while others may still read it, or it has to be given
  /// back after the last one.
  bool counted = false;
  bool may_count = false;         ///< its value may be one whose readers count
  bool may_repeat = false;        ///< its stated edges may name a task twice: each is looked up
  bool surely_from_task = false;  ///< whatever the indices are, it waits for a task
  /// So its inputs say.
  bool comes_surely_from_task() const;
};

/// What is the same for all tasks of a class, and what follows from a task's indices.
struct TableClass {
  std::string name;
  Places places;                         ///< of its indices, in their order
  std::vector<Loop> loops;               ///< over them
  std::vector<std::uint8_t> parameters;  ///< places of those that are none derived
  std::vector<Interval> bounds;          ///< of each place
  std::vector<TableFlow> flows;
  std::size_t data_flows = 0;               ///< they come first
  std::int32_t sure_inputs = 0;             ///< tasks that each of its tasks waits for
  std::vector<std::uint16_t> other_inputs;  ///< flows that may come from tasks besides
  std::vector<std::uint16_t> written;       ///< flows that change what they have
  std::vector<std::uint16_t> told;          ///< flows of whose values somebody hears, or who are counted
  /// Parts of flows that go to other ranks as such. What goes is called by its flow, or by the number of flows and its place
  /// here.
  std::vector<std::pair<std::uint16_t, Part>> parts;
  bool may_await_memory = false;  ///< a task may wait for those that read what it changes from memory
  bool one_input = false;         ///< its tasks wait for one task at most
  bool same_places = false;       ///< its parameters are all its indices: their places are 0, 1 and so on
  std::vector<Formula> numbers;
  Formula priority;
  std::optional<MemoryPlace> runs_at;  ///< over ranks: where that is, its tasks run
  std::shared_ptr<const ClassDefinition> definition;

  /// What goes to other ranks by that number: of which flow, and what of it.
  std::pair<std::uint16_t, Part> output(std::size_t number) const {
    if (number < flows.size()) return {static_cast<std::uint16_t>(number), Part{}};
    return parts.at(number - flows.size());
  }
  std::size_t output_number(std::size_t flow, const Part& part) const {
    const auto found =
        std::find(parts.begin(), parts.end(), std::pair(static_cast<std::uint16_t>(flow), part));
    return found == parts.end() ? flow : flows.size() + static_cast<std::size_t>(found - parts.begin());
  }

  /// The first of the names of its tasks.
  std::uint64_t first_name = 0;
  /// For each parameter: where its numbers begin, how many there may be, and how far the names of neighbours
  /// are apart.
  struct Axis {
    std::int64_t first = 0;
    std::uint64_t count = 0, stride = 0;
  };
  std::vector<Axis> axes;
  std::uint64_t names = 1;  ///< how many it has taken

  /// A task of it waits for one task at most, as its flows say.
  bool waits_for_one() const;
  /// The name of the task with these parameters. Nothing if they are far from any task's.
  std::optional<std::uint64_t> name_of(const std::int64_t* values) const noexcept {
    std::uint64_t at = first_name;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto offset = static_cast<std::uint64_t>(values[i] - axes[i].first);
      if (offset >= axes[i].count) return std::nullopt;
      at += offset * axes[i].stride;
    }
    return at;
  }
  /// Its parameters, the other way round.
  void parameters_of(std::uint64_t its_name, std::int64_t* values) const noexcept;
  /// The numbers of all its indices. `values`: of a task, from its record.
  void place(const std::int32_t* values, std::int64_t* at) const {
    if (same_places) [[likely]] {
      // So many are there in every record, and that is quicker than a loop.
      for (std::size_t i = 0; i < ActiveTask::fixed_slots; ++i) at[i] = values[i];
      for (std::size_t i = ActiveTask::fixed_slots; i < parameters.size(); ++i) at[i] = values[i];
      return;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) at[parameters[i]] = values[i];
    place_derived(at);
  }
  /// Those that follow from the parameters.
  void place_derived(std::int64_t* at) const {
    for (const Loop& loop : loops)
      if (loop.derived) at[loop.place] = loop.first.front().dividend(at);
  }
  /// Its tasks are ready as soon as one thing has come.
  bool ready_at_once() const noexcept { return one_input && !may_await_memory; }
  /// Where a task's record has what comes by the flow, of those with data.
  std::uint8_t slot_of(std::size_t flow) const noexcept {
    return static_cast<std::uint8_t>(parameters.size() + flow);
  }
  /// Which parameter stands at the i-th place where a task is called.
  std::size_t called(std::size_t i) const { return definition->called.empty() ? i : definition->called[i]; }
  /// "gemm(1, 4, 2)".
  std::string text(const std::int32_t* values) const;
  /// How many tasks there are. Throws as SpaceWalk.
  std::uint64_t count(const std::atomic<bool>* stop = nullptr) const;
};

/// Which input a flow has for these numbers; null: none holds.
inline const Input* input_of(const TableFlow& flow, const std::int64_t* numbers) {
  for (const Input& input : flow.inputs)
    if (!input.condition || (*input.condition)(numbers)) return &input;
  return nullptr;
}

struct ClassTable {
  std::vector<std::shared_ptr<const CollectionDefinition>> collections;
  std::vector<bool> contested;  ///< of each: some task may change a datum that another takes from memory
  std::vector<TableClass> classes;
  std::uint64_t names = 0;                  ///< that its tasks take
  bool come_home = false;                   ///< tasks bring values home: who has one is always counted
  const std::atomic<bool>* stop = nullptr;  ///< once it is set, walks through the tasks end with WalkStopped

  std::string text_of(const ActiveTask& task) const {
    return classes[task.task_class].text(task.parameters());
  }
};

/// Throws UsageError for what makes no sense: names what, in which class and where that is. `over_ranks`: values may
/// go to other ranks, so who has one is always counted.
ClassTable make_class_table(const std::vector<std::shared_ptr<const ClassDefinition>>& definitions,
                            bool over_ranks = false);

/// "gemm, defined at file:line".
std::string text_of(const ClassDefinition& definition);
/// Where it is said in which places the class's values are: "file:line:column"; or, if that is not known, as above.
std::string where_said(const Alternative& places, const ClassDefinition& of);

}  // namespace fairlead::ptg
