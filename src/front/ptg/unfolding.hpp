// How a parameterized graph unfolds: the end of a task says, by formulas, which others get its values, and a task
// is satisfied when the last of what it waits for has come. A value is changed only when all who read it are
// over. A graph unfolds once as its tasks really end, and, for policies that plan, once more ahead of that.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "front/ptg/active_task.hpp"
#include "front/ptg/class_table.hpp"
#include "front/ptg/left_over.hpp"
#include "front/ptg/task_kinds.hpp"
#include "front/ptg/values.hpp"

namespace fairlead::ptg {

/// Who has a value, as far as that has to be known.
struct Readers {
  /// Those that read it and are not over; and, while it is being told who gets it, one more.
  std::atomic<std::int32_t> count{0};
  /// `count` counts. Changed by who makes the value, or takes it from memory.
  std::atomic<bool> counted{false};
  /// Somebody changes the value after them: by which flow, and his name in his class. Written by who tells of the
  /// value, read by who ends its reading.
  bool has_writer = false;
  bool awaited = false;  ///< who takes it from memory to change it waits for them. Fixed for a run
  std::uint16_t writer_class = 0, writer_flow = 0;
  std::uint64_t writer = 0;
};

/// A `Host` is whom it tells, on one thread: it has
///   thread(): its number;
///   full(): there is no room for more satisfied tasks now;
///   satisfied(ActiveTask&): the last of its inputs has come;
///   unused(number): nobody has the fresh value any more;
///   misused(text): the graph is wrong.
class Unfolding {
 public:
  Unfolding(const ClassTable& table, const TaskKinds& kinds, Values& values, ActiveTasks& active)
      : table_(table), kinds_(kinds), values_(values), active_(active) {}

  /// Before a run. `alone`: one thread alone calls the functions below. Throws UsageError if two tasks take the
  /// same datum from memory and change it.
  void begin(bool alone);
  /// Other threads do now, too.
  void share() noexcept { partly_.share(); }

  /// A task of which nothing has come.
  ActiveTask& make(std::uint32_t task_class, std::uint64_t name, const std::int64_t* parameters,
                   std::size_t thread);
  /// How many inputs have to come.
  std::int32_t waits_for(const TableClass& of, const std::int64_t* numbers);
  /// The datum is taken from memory: whether its readers count.
  void taken(std::uint32_t number, bool counted) {
    if (!counts()) return;
    std::atomic<bool>& it = readers(number).counted;
    if (it.load(std::memory_order_relaxed) != counted) it.store(counted, std::memory_order_relaxed);
  }
  /// Tells of the end of a task, and gives it back. False if there was no room for all that may become ready.
  template <class Host>
  bool go_on(Telling& telling, Host&& host);

  const PartlySatisfied& partly() const noexcept { return partly_; }
  /// Nobody will feed them any more.
  void forget_all() {
    partly_.clear([&](ActiveTask& task) { active_.give_back(0, task); });
  }

 private:
  bool counts() const noexcept { return of_collections_ != nullptr; }
  Readers& readers(std::uint32_t number) {
    return number < values_.of_collections() ? of_collections_[number]
                                             : fresh(number - values_.of_collections());
  }
  Readers& fresh(std::uint32_t number);
  void find_readers_of_memory();
  std::string changed_twice(const Telling& telling, const Edge& edge) const;
  template <class Host>
  void tell(Telling& telling, const Edge& edge, std::uint32_t number, bool counted, Host& host);
  template <class Host>
  void settle(std::uint32_t number, Host& host);
  template <class FindParameters, class Host>
  void arrive(std::uint32_t task_class, std::uint16_t flow, bool said, std::uint64_t name,
              const FindParameters& find_parameters, std::uint32_t number, Host& host);
  void check_leavings(const Telling& telling, const TableFlow& flow, std::uint32_t number, std::string& why);

  const ClassTable& table_;
  const TaskKinds& kinds_;
  Values& values_;
  ActiveTasks& active_;
  PartlySatisfied partly_;
  std::unique_ptr<Readers[]> of_collections_;  // null: nowhere in the graph do readers count
  Chunks<Readers> fresh_;
};

template <class Host>
bool Unfolding::go_on(Telling& telling, Host&& host) {
  ActiveTask& over = *telling.over;
  const TableClass& of = table_.classes[over.task_class];
  const std::uint32_t* const values = over.values(of.parameters.size());
  std::int64_t* const numbers = telling.numbers.data();
  for (; telling.told < of.told.size(); ++telling.told, telling.edge = 0) {
    const std::size_t at = of.told[telling.told];
    const TableFlow& flow = of.flows[at];
    const std::uint32_t number = at < of.data_flows ? values[at] : no_value;
    const bool may_count = flow.may_count && number != no_value;
    if (telling.edge == 0 && !telling.in_edge && number != no_value) {
      if (!flow.leavings.empty()) {
        std::string why;
        check_leavings(telling, flow, number, why);
        if (!why.empty()) host.misused(why);
      }
      if (may_count && writes(flow.mode)) {
        Readers& it = readers(number);
        it.counted.store(flow.counted, std::memory_order_relaxed);
        // One for us, so that nobody is the last before all are told. Nobody else looks at it yet.
        if (flow.counted) it.count.store(1, std::memory_order_relaxed);
      }
    }
    std::size_t writers = 0;  // of a value whose readers do not count: then nobody else has it
    const bool counted = may_count && readers(number).counted.load(std::memory_order_relaxed);
    for (; telling.edge < flow.edges.size(); ++telling.edge) {
      const Edge& edge = flow.edges[telling.edge];
      if (!telling.in_edge &&
          !(telling.in_edge = edge.before(numbers) && telling.walk.begin(edge.loops, numbers)))
        continue;
      do {
        if (host.full()) [[unlikely]]
          return false;
        if (edge.to_writer && !counted && ++writers > 1) [[unlikely]]
          host.misused(changed_twice(telling, edge));
        tell(telling, edge, number, counted, host);
      } while (telling.walk.next(edge.loops, numbers));
      telling.in_edge = false;
    }
    // This task does not use the value any more. acq_rel: the last one sees what the others have done, and who
    // changes it now.
    if (counted && readers(number).count.fetch_sub(1, std::memory_order_acq_rel) == 1) settle(number, host);
  }
  active_.give_back(host.thread(), over);
  return true;
}

/// One who gets the value hears of it.
template <class Host>
void Unfolding::tell(Telling& telling, const Edge& edge, std::uint32_t number, bool counted, Host& host) {
  std::int64_t* const numbers = telling.numbers.data();
  if (!edge.after.empty() && !edge.holds(numbers)) return;
  const TableClass& to = table_.classes[edge.to_class];
  const auto find_parameters = [&](std::int64_t* parameters) {
    for (std::size_t i = 0; i < edge.indices.size(); ++i) parameters[i] = edge.indices[i](numbers);
  };
  std::uint64_t name = 0;
  if (edge.name) [[likely]] {
    name = static_cast<std::uint64_t>((*edge.name)(numbers));
  } else {
    std::array<std::int64_t, Walk::most_loops> parameters;
    find_parameters(parameters.data());
    const std::optional<std::uint64_t> its = to.name_of(parameters.data());
    if (!its)
      return host.misused(fmt::format("{} gives a value to {}({}), and there is no such task",
                                      table_.text_of(*telling.over), to.name,
                                      fmt::join(std::span(parameters).first(edge.indices.size()), ", ")));
    name = *its;
  }
  if (counted && !to.flows[edge.to_flow].control) {
    Readers& it = readers(number);
    if (edge.to_writer) {
      if (it.has_writer) return host.misused(changed_twice(telling, edge));
      it.has_writer = true;
      it.writer = name;
      it.writer_class = static_cast<std::uint16_t>(edge.to_class);
      it.writer_flow = edge.to_flow;
      return;
    }
    it.count.fetch_add(1, std::memory_order_relaxed);
  }
  arrive(edge.to_class, edge.to_flow, edge.said, name, find_parameters, number, host);
}

/// Nobody reads the value any more.
template <class Host>
void Unfolding::settle(std::uint32_t number, Host& host) {
  Readers& it = readers(number);
  if (!it.has_writer) {
    if (values_[number].fresh) host.unused(number);
    return;
  }
  it.has_writer = false;
  const TableClass& to = table_.classes[it.writer_class];
  std::array<std::int32_t, Walk::most_loops> values;
  to.parameters_of(it.writer, values.data());
  const auto find_parameters = [&](std::int64_t* parameters) {
    std::copy_n(values.begin(), to.parameters.size(), parameters);
  };
  arrive(it.writer_class, it.writer_flow, false, it.writer, find_parameters, number, host);
}

/// The task gets a value, or hears that a task is over which it waits for. `said`: who gave it may be wrong.
template <class FindParameters, class Host>
void Unfolding::arrive(std::uint32_t task_class, std::uint16_t flow, bool said, std::uint64_t name,
                       const FindParameters& find_parameters, std::uint32_t number, Host& host) {
  const TableClass& to = table_.classes[task_class];
  const auto put = [&](ActiveTask& task) {
    if (flow >= to.data_flows) return;
    std::uint32_t& value = task.values(to.parameters.size())[flow];
    if (value != no_value) [[unlikely]]
      host.misused(
          fmt::format("the flow \"{}\" of {} gets two values", to.flows[flow].name, table_.text_of(task)));
    value = number;
  };
  if (kinds_[task_class].one_input && !said && !to.may_await_memory) {
    std::array<std::int64_t, Walk::most_loops> parameters;
    find_parameters(parameters.data());
    ActiveTask& task = make(task_class, name, parameters.data(), host.thread());
    put(task);
    return host.satisfied(task);
  }
  ActiveTask* const last = partly_.arrived(
      to.first_name + name,
      [&]() -> ActiveTask& {
        std::array<std::int64_t, Walk::most_loops> parameters;
        find_parameters(parameters.data());
        ActiveTask& task = make(task_class, name, parameters.data(), host.thread());
        Numbers numbers;
        to.place(task.parameters(), numbers.data());
        task.wait = waits_for(to, numbers.data());
        if (task.wait == 0) [[unlikely]] {
          host.misused(table_.text_of(task) + " is given a value, and waits for none");
          task.wait = 2;  // it begins by itself
        }
        return task;
      },
      put);
  if (last != nullptr) host.satisfied(*last);
}

}  // namespace fairlead::ptg
