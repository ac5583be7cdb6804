// How a parameterized graph unfolds: the end of a task says, by formulas, which others get its values, and a task
// is satisfied when the last of what it waits for has come. A value is changed only when all who read it are
// over. A graph unfolds once as its tasks really end, and, for policies that plan, once more ahead of that.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "front/ptg/active_task.hpp"
#include "front/ptg/class_table.hpp"
#include "front/ptg/edge_ends.hpp"
#include "front/ptg/left_over.hpp"
#include "front/ptg/own_steps.hpp"
#include "front/ptg/task_kinds.hpp"
#include "front/ptg/values.hpp"

namespace fairlead::ptg {

/// Who has a value, as far as that has to be known.
struct Readers {
  /// Those that read it and are not over; and, while it is being told who gets it, one more. Where values come home also who changes it.
  std::atomic<std::int32_t> count{0};
  /// `count` counts. Changed by who makes the value, or takes it from memory.
  std::atomic<bool> counted{false};
  /// Somebody changes the value after them: by which flow, and his name in his class. Written by who tells of the
  /// value, read by who ends its reading.
  bool has_writer = false;
  bool awaited = false;  ///< who takes it from memory to change it waits for them. Fixed for a run
  std::uint16_t writer_class = 0, writer_flow = 0;
  std::uint64_t writer = 0;
  /// Tasks that bring values home to the datum wait for them.
  std::atomic<bool> coming_home{false};
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
      : table_(table), kinds_(kinds), values_(values), active_(active), come_home_(table.come_home) {}

  /// Over ranks: tasks of others are none of ours. Before the first run; it stays.
  void place_by(const Placement& placement) { own_ = std::make_unique<OwnSteps>(table_, placement); }
  /// Before a run. `alone`: one thread alone calls the functions below. Throws UsageError if two tasks take the
  /// same datum from memory and change it.
  void begin(bool alone);
  /// Other threads do now, too.
  void share() noexcept { partly_.share(); }

  /// A task of which nothing has come.
  ActiveTask& make(const TableClass& of, std::uint32_t task_class, std::uint64_t name,
                   const std::int64_t* parameters, std::size_t thread) {
    ActiveTask& task = active_.take(thread, kinds_[task_class].lines);
    task.name = name;
    task.task_class = static_cast<std::uint16_t>(task_class);
    std::uint32_t* const slots = task.slots();
    std::fill_n(slots, ActiveTask::fixed_slots, no_value);  // no loop
    const std::size_t count = of.parameters.size();
    for (std::size_t i = 0; i < count; ++i) slots[i] = static_cast<std::uint32_t>(parameters[i]);
    for (std::size_t i = std::max(ActiveTask::fixed_slots, count); i < count + of.data_flows; ++i)
      slots[i] = no_value;
    return task;
  }
  /// A task with these parameters of which nothing has come, and which waits for nothing.
  ActiveTask& make_initial(std::uint32_t task_class, const std::int64_t* parameters, std::size_t thread) {
    const TableClass& of = table_.classes[task_class];
    return make(of, task_class, *of.name_of(parameters), parameters, thread);
  }
  /// How many inputs have to come.
  std::int32_t waits_for(const TableClass& of, const std::int64_t* numbers);
  /// Whether none has.
  bool is_initial(std::size_t task_class, const std::int64_t* numbers) {
    const TableClass& of = table_.classes[task_class];
    return of.other_inputs.empty() ? of.sure_inputs == 0 : waits_for(of, numbers) == 0;
  }
  /// Nobody hears of the end of the class's tasks: they are only given back.
  bool tells_nobody(const TableClass& of) const noexcept { return of.told.empty(); }
  void forget(ActiveTask& over, std::size_t thread) { active_.give_back(thread, over); }
  /// The datum is taken from memory: whether its readers count.
  void taken(std::uint32_t number, bool counted, bool to_change) {
    if (!counts()) return;
    if (come_home_ && to_change) readers(number).count.store(1, std::memory_order_relaxed);
    std::atomic<bool>& it = readers(number).counted;
    if (it.load(std::memory_order_relaxed) != counted) it.store(counted, std::memory_order_relaxed);
  }
  /// Over ranks, before anybody is told of the end of a task of ours: so that its values stay for those elsewhere to
  /// whom these flows' go, too, so many times.
  void count_elsewhere(Telling& telling, std::span<const std::uint8_t> flows);
  /// The task of another rank of which that output has come: it is told of by go_on().
  Telling came(std::uint64_t name, std::size_t output, std::uint32_t number, bool passed_on,
               std::size_t thread);
  /// Whether nobody has what the datum holds, so that the task may bring a value home to it; then it has it until it is over.
  /// If not, the task is satisfied again after the last of them.
  bool may_come_home(std::uint32_t number, ActiveTask& task);
  /// Those elsewhere have the value.
  template <class Host>
  void left(std::uint32_t number, Host&& host) {
    Readers& it = readers(number);
    if (it.counted.load(std::memory_order_relaxed) && it.count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      settle(number, host);
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
  ActiveTask* next_home(std::uint32_t number);
  void find_readers_of_memory();
  std::string changed_twice(const Telling& telling, const Edge& edge) const;
  template <class Host>
  void tell(Telling& telling, const Edge& edge, std::uint32_t number, bool counted, Host& host);
  template <class Host>
  bool tell_neighbours(Telling& telling, const Edge& edge, std::uint32_t number, Host& host);
  template <class Host>
  void settle(std::uint32_t number, Host& host);
  /// What comes to a task.
  struct Arrival {
    std::uint32_t task_class;
    std::uint8_t slot;
    bool of_control, makes_ready;  ///< as in Edge
  };
  template <class FindParameters, class Host>
  void arrive(const TableClass& to, const Arrival& arrival, std::uint64_t name,
              const FindParameters& find_parameters, std::uint32_t number, Host& host);
  std::string wrong_end(Telling& telling, const Edge& edge, std::optional<std::uint64_t> name,
                        const std::int64_t* parameters) const;
  Giver giver_of(const Telling& telling) const {
    const std::uint16_t flow = table_.classes[telling.over->task_class].told[telling.told];
    return {telling.over->task_class, flow, telling.over->parameters()};
  }
  std::string two_values(const ActiveTask& task, std::size_t slot) const;
  void check_leavings(const Telling& telling, const TableFlow& flow, std::uint32_t number, std::string& why);

  const ClassTable& table_;
  const TaskKinds& kinds_;
  Values& values_;
  ActiveTasks& active_;
  const bool come_home_;           // so who changes a datum counts as well
  std::unique_ptr<OwnSteps> own_;  // null: all tasks are ours
  PartlySatisfied partly_;
  std::unique_ptr<Readers[]> of_collections_;  // null: nowhere in the graph do readers count
  Chunks<Readers> fresh_;
  std::mutex coming_home_mutex_;  // guards what follows
  std::multimap<std::uint32_t, ActiveTask*>
      coming_home_;  // by value: of parts of one datum there may be several
};

template <class Host>
bool Unfolding::go_on(Telling& telling, Host&& host) {
  ActiveTask& over = *telling.over;
  const TableClass& of = table_.classes[over.task_class];
  const std::uint32_t* const values = over.values(of.parameters.size());
  std::int64_t* const numbers = telling.numbers.data();
  const std::size_t until = std::min(telling.until, of.told.size());
  for (; telling.told < until; ++telling.told, telling.edge = 0) {
    const std::size_t at = of.told[telling.told];
    const TableFlow& flow = of.flows[at];
    const std::uint32_t number = at < of.data_flows ? values[at] : no_value;
    const bool may_count = flow.may_count && number != no_value;
    if (telling.edge == 0 && !telling.in_edge && flow.may_repeat) [[unlikely]]
      telling.stated.clear();
    if (telling.edge == 0 && !telling.in_edge && number != no_value) {
      if (!flow.leavings.empty() && telling.until == ~std::size_t{0}) {
        std::string why;
        check_leavings(telling, flow, number, why);
        if (!why.empty()) host.misused(why);
      }
      if (may_count && writes(flow.mode) && !telling.counted) {
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
          !(telling.in_edge =
                edge.before(numbers) && (edge.loops.empty() || telling.walk.begin(edge.loops, numbers))))
        continue;
      if (edge.name_growth != 0 && !counted && !edge.to_writer && own_ == nullptr) {
        if (!tell_neighbours(telling, edge, number, host)) [[unlikely]]
          return false;
        telling.in_edge = false;
        continue;
      }
      for (bool more = true; more;) {
        if (host.full()) [[unlikely]]
          return false;
        if (own_ != nullptr) [[unlikely]] {
          if (const std::int64_t off = own_->off(edge, telling.walk, numbers); off != 0) {
            more = telling.walk.skip(edge.loops, off, numbers);
            continue;
          }
        }
        if (edge.to_writer && !counted && ++writers > 1) [[unlikely]]
          host.misused(changed_twice(telling, edge));
        tell(telling, edge, number, counted, host);
        more = telling.walk.next(edge.loops, numbers);
      }
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
  const auto find_parameters = [&](std::int64_t* parameters) { edge.find_parameters(numbers, parameters); };
  std::uint64_t name = 0;
  if (edge.name) [[likely]] {
    name = static_cast<std::uint64_t>((*edge.name)(numbers));
  } else {
    std::array<std::int64_t, Walk::most_loops> parameters;
    find_parameters(parameters.data());
    const std::optional<std::uint64_t> its = to.name_of(parameters.data());
    const std::string why = wrong_end(telling, edge, its, parameters.data());
    if (!why.empty()) [[unlikely]]
      return host.misused(why);
    name = *its;
  }
  if (counted && !edge.to_control) {
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
  arrive(to, {edge.to_class, edge.slot, edge.to_control, edge.makes_ready}, name, find_parameters, number,
         host);
}

/// As tell(), of all that are left of a loop over neighbours. False if there was no room for one.
template <class Host>
bool Unfolding::tell_neighbours(Telling& telling, const Edge& edge, std::uint32_t number, Host& host) {
  std::int64_t* const numbers = telling.numbers.data();
  const TableClass& to = table_.classes[edge.to_class];
  const auto find_parameters = [&](std::int64_t* parameters) { edge.find_parameters(numbers, parameters); };
  const Arrival arrival{edge.to_class, edge.slot, edge.to_control, edge.makes_ready};
  const auto [last, step] = telling.walk.innermost();
  std::int64_t& place = numbers[edge.loops.front().place];
  const std::int64_t growth = edge.name_growth * step;
  for (std::int64_t name = (*edge.name)(numbers);; name += growth) {
    if (host.full()) [[unlikely]]
      return false;
    if (!edge.makes_ready) {
      partly_.fetch_first(static_cast<std::uint64_t>(name + 8 * growth));
      partly_.fetch_second(static_cast<std::uint64_t>(name + 4 * growth));
    }
    arrive(to, arrival, static_cast<std::uint64_t>(name), find_parameters, number, host);
    if (last - place < step) return true;
    place += step;
  }
}

/// Nobody reads the value any more.
template <class Host>
void Unfolding::settle(std::uint32_t number, Host& host) {
  Readers& it = readers(number);
  if (!it.has_writer) {
    if (values_[number].fresh) return host.unused(number);
    if (!come_home_) return;
    if (!it.coming_home.load(std::memory_order_acquire)) return;
    if (ActiveTask* const home = next_home(number)) host.satisfied(*home);
    return;
  }
  it.has_writer = false;
  if (come_home_) it.count.store(1, std::memory_order_relaxed);  // he has it
  const TableClass& to = table_.classes[it.writer_class];
  const std::uint64_t writer = it.writer;
  const auto find_parameters = [&](std::int64_t* parameters) { to.parameters_of(writer, parameters); };
  arrive(to, {it.writer_class, to.slot_of(it.writer_flow), false, to.ready_at_once()}, writer,
         find_parameters, number, host);
}

/// The task gets a value, or hears that a task is over which it waits for.
template <class FindParameters, class Host>
[[gnu::always_inline]] inline void Unfolding::arrive(const TableClass& to, const Arrival& arrival,
                                                     std::uint64_t name,
                                                     const FindParameters& find_parameters,
                                                     std::uint32_t number, Host& host) {
  const auto make_it = [&]() -> ActiveTask& {
    Numbers numbers;
    find_parameters(numbers.data());
    ActiveTask& task = make(to, arrival.task_class, name, numbers.data(), host.thread());
    if (arrival.makes_ready) return task;
    if (!to.same_places) to.place(task.parameters(), numbers.data());
    task.wait = waits_for(to, numbers.data());
    if (task.wait == 0) [[unlikely]] {
      host.misused(table_.text_of(task) + " is given a value, and waits for none");
      task.wait = 2;  // it begins by itself
    }
    return task;
  };
  const auto put = [&](ActiveTask& task) {
    if (arrival.of_control) return;
    std::uint32_t& value = task.slots()[arrival.slot];
    if (value != no_value) [[unlikely]]
      host.misused(two_values(task, arrival.slot));
    value = number;
  };
  if (arrival.makes_ready) {
    ActiveTask& task = make_it();
    put(task);
    return host.satisfied(task);
  }
  if (ActiveTask* const last = partly_.arrived(name, make_it, put); last != nullptr) host.satisfied(*last);
}

}  // namespace fairlead::ptg
