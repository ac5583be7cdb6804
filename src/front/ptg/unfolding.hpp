// Unfolds a parameterized graph: when a task finishes, formulas give the receivers of its values, and a task is ready
// when its last input arrives. A task changes a value only after all readers of the value have finished. A graph is
// unfolded once by its execution and, for planning policies, a second time ahead of it (lookahead.hpp).
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

#include "front/ptg/class_table.hpp"
#include "front/ptg/deferred_work.hpp"
#include "front/ptg/edge_ends.hpp"
#include "front/ptg/flow_values.hpp"
#include "front/ptg/own_steps.hpp"
#include "front/ptg/task_instance.hpp"
#include "front/ptg/task_kinds.hpp"

namespace fairlead::ptg {

/// The reference count of a value, if one is needed.
struct ReaderCount {
  /// Readers that have not finished; plus one while the receivers are being notified. With write-back tasks also the
  /// task that changes the value.
  std::atomic<std::int32_t> count{0};
  /// `count` is in use. Set by the task that makes the value or takes it from memory.
  std::atomic<bool> counted{false};
  /// A task changes the value after these readers: writer_class, writer_flow and its key. Written while the receivers
  /// are notified, read when the last reader finishes.
  bool has_writer = false;
  /// The task that takes the datum from memory to change it waits for the readers; constant during a run.
  bool awaited = false;
  std::uint16_t writer_class = 0, writer_flow = 0;
  std::uint64_t writer = 0;
  /// Write-back tasks to the datum wait for the readers.
  std::atomic<bool> write_back_waits{false};
};

/// A `Host` receives the results on one thread. It has these functions:
///   thread(): the thread's number;
///   full(): no space for more ready tasks now;
///   satisfied(TaskInstance&): the task has all inputs;
///   unused(number): no task uses the fresh value any more;
///   misused(text): the graph is invalid.
class Unfolding {
 public:
  Unfolding(const ClassTable& table, const TaskKinds& kinds, FlowValues& values, TaskInstancePool& active)
      : table_(table), kinds_(kinds), values_(values), active_(active), come_home_(table.has_write_backs) {}

  /// With several ranks: tasks of other ranks are skipped. Call before the first run; `placement` must outlive the
  /// object.
  void place_by(const RankPlacement& placement) { own_ = std::make_unique<OwnSteps>(table_, placement); }
  /// Call before each run. `alone`: a single thread calls the functions below. Throws UsageError if two tasks take
  /// the same datum from memory and change it.
  void begin(bool alone);
  /// Several threads call them from now on.
  void share() noexcept { partly_.share(); }

  /// Creates the record of a task without inputs so far.
  TaskInstance& make(const TableClass& of, std::uint32_t task_class, std::uint64_t name,
                     const std::int64_t* parameters, std::size_t thread) {
    TaskInstance& task = active_.take(thread, kinds_[task_class].lines);
    task.key = name;
    task.task_class = static_cast<std::uint16_t>(task_class);
    std::uint32_t* const slots = task.slots();
    std::fill_n(slots, TaskInstance::fixed_slots, no_value);  // a constant count, so no loop is generated
    const std::size_t count = of.parameters.size();
    for (std::size_t i = 0; i < count; ++i) slots[i] = static_cast<std::uint32_t>(parameters[i]);
    for (std::size_t i = std::max(TaskInstance::fixed_slots, count); i < count + of.data_flows; ++i)
      slots[i] = no_value;
    return task;
  }
  /// The record of a task with these parameters that waits for nothing.
  TaskInstance& make_initial(std::uint32_t task_class, const std::int64_t* parameters, std::size_t thread) {
    const TableClass& of = table_.classes[task_class];
    return make(of, task_class, *of.key_of(parameters), parameters, thread);
  }
  /// The number of inputs that must arrive.
  std::int32_t missing_inputs(const TableClass& of, const std::int64_t* numbers);
  /// True if none must arrive.
  bool is_initial(std::size_t task_class, const std::int64_t* numbers) {
    const TableClass& of = table_.classes[task_class];
    return of.other_inputs.empty() ? of.sure_inputs == 0 : missing_inputs(of, numbers) == 0;
  }
  /// True if no task needs to be notified when tasks of this class finish; then call forget().
  bool has_no_successors(const TableClass& of) const noexcept { return of.notified_flows.empty(); }
  /// Recycles the record of a finished task.
  void forget(TaskInstance& over, std::size_t thread) { active_.give_back(thread, over); }
  /// The datum is taken from memory. `counted`: its readers are counted; `to_change`: the task changes it.
  void taken(std::uint32_t number, bool counted, bool to_change) {
    if (!counts()) return;
    if (come_home_ && to_change) readers(number).count.store(1, std::memory_order_relaxed);
    std::atomic<bool>& it = readers(number).counted;
    if (it.load(std::memory_order_relaxed) != counted) it.store(counted, std::memory_order_relaxed);
  }
  /// With several ranks, before any receiver of a finished task is notified: counts the outputs that go to other
  /// ranks, by flow, so that the values stay unchanged until they are sent.
  void count_elsewhere(CompletionNotice& notice, std::span<const std::uint8_t> flows);
  /// The notification of receivers on this rank for an output that arrived from another rank; pass it to go_on().
  /// `passed_on`: it is also sent on from here.
  CompletionNotice begin_arrival(std::uint64_t name, std::size_t output, std::uint32_t number, bool passed_on,
                                 std::size_t thread);
  /// True if the datum has no readers, so that the write-back task may run; the datum is then reserved for it.
  /// Otherwise the task becomes ready again after the last reader.
  bool reserve_for_write_back(std::uint32_t number, TaskInstance& task);
  /// All receivers on other ranks have the value.
  template <class Host>
  void delivered(std::uint32_t number, Host&& host) {
    ReaderCount& it = readers(number);
    if (it.counted.load(std::memory_order_relaxed) && it.count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      release_value(number, host);
  }
  /// Notifies the receivers of a finished task and recycles its record. Returns false if interrupted because the host
  /// is full; call again with the same state.
  template <class Host>
  bool notify_successors(CompletionNotice& notice, Host&& host);

  const PendingTasks& partly() const noexcept { return partly_; }
  /// Drops all pending tasks: none can become ready any more.
  void drop_pending() {
    partly_.clear([&](TaskInstance& task) { active_.give_back(0, task); });
  }

 private:
  bool counts() const noexcept { return of_collections_ != nullptr; }
  ReaderCount& readers(std::uint32_t number) {
    return number < values_.of_collections() ? of_collections_[number]
                                             : fresh(number - values_.of_collections());
  }
  ReaderCount& fresh(std::uint32_t number);
  TaskInstance* next_home(std::uint32_t number);
  void find_readers_of_memory();
  std::string changed_twice(const CompletionNotice& notice, const ClassEdge& edge) const;
  template <class Host>
  void notify(CompletionNotice& notice, const ClassEdge& edge, std::uint32_t number, bool counted,
              Host& host);
  template <class Host>
  bool notify_consecutive(CompletionNotice& notice, const ClassEdge& edge, std::uint32_t number, Host& host);
  template <class Host>
  void release_value(std::uint32_t number, Host& host);
  /// An input that arrives at a task.
  struct Arrival {
    std::uint32_t task_class;
    std::uint8_t slot;
    bool of_control, makes_ready;  ///< as in ClassEdge
  };
  template <class FindParameters, class Host>
  void arrive(const TableClass& to, const Arrival& arrival, std::uint64_t name,
              const FindParameters& find_parameters, std::uint32_t number, Host& host);
  /// True if the edge has a receiver for these index values.
  bool receives(const ClassEdge& edge, std::int64_t* numbers) const {
    return (edge.after.empty() || edge.holds(numbers)) && !is_skipped(table_, edge, numbers);
  }
  std::string wrong_end(CompletionNotice& notice, const ClassEdge& edge, std::optional<std::uint64_t> name,
                        const std::int64_t* parameters, const std::int64_t* numbers) const;
  Giver giver_of(const CompletionNotice& notice) const {
    const std::uint16_t flow = table_.classes[notice.task->task_class].notified_flows[notice.flow_position];
    return {notice.task->task_class, flow, notice.task->parameters()};
  }
  std::string two_values(const TaskInstance& task, std::size_t slot) const;
  void check_leavings(const CompletionNotice& notice, const TableFlow& flow, std::uint32_t number,
                      std::string& why);

  const ClassTable& table_;
  const TaskKinds& kinds_;
  FlowValues& values_;
  TaskInstancePool& active_;
  const bool come_home_;  // there are write-back tasks, so a task that changes a datum is counted too
  std::unique_ptr<OwnSteps> own_;  // null: a single rank
  PendingTasks partly_;
  std::unique_ptr<ReaderCount[]> of_collections_;  // null: no value of the graph has counted readers
  Chunks<ReaderCount> fresh_;
  std::mutex coming_home_mutex_;  // guards the member below
  std::multimap<std::uint32_t, TaskInstance*>
      coming_home_;  // by value; several tasks may store parts of one datum
};

template <class Host>
bool Unfolding::notify_successors(CompletionNotice& notice, Host&& host) {
  TaskInstance& over = *notice.task;
  const TableClass& of = table_.classes[over.task_class];
  const std::uint32_t* const values = over.values(of.parameters.size());
  std::int64_t* const numbers = notice.numbers.data();
  const std::size_t until = std::min(notice.flow_end, of.notified_flows.size());
  for (; notice.flow_position < until; ++notice.flow_position, notice.edge = 0) {
    const std::size_t at = of.notified_flows[notice.flow_position];
    const TableFlow& flow = of.flows[at];
    const std::uint32_t number = at < of.data_flows ? values[at] : no_value;
    const bool may_count = flow.may_count && number != no_value;
    if (notice.edge == 0 && !notice.in_edge && flow.may_repeat) [[unlikely]]
      notice.stated.clear();
    if (notice.edge == 0 && !notice.in_edge && number != no_value) {
      if (!flow.stored_outputs.empty() && notice.flow_end == ~std::size_t{0}) {
        std::string why;
        check_leavings(notice, flow, number, why);
        if (!why.empty()) host.misused(why);
      }
      if (may_count && writes(flow.mode) && !notice.counted) {
        ReaderCount& it = readers(number);
        it.counted.store(flow.counted, std::memory_order_relaxed);
        // One for this task, so that the count does not reach 0 before all receivers are notified. No other thread
        // reads it yet.
        if (flow.counted) it.count.store(1, std::memory_order_relaxed);
      }
    }
    std::size_t writers = 0;  // of a value without counted readers: it must have no other receiver
    const bool counted = may_count && readers(number).counted.load(std::memory_order_relaxed);
    for (; notice.edge < flow.edges.size(); ++notice.edge) {
      const ClassEdge& edge = flow.edges[notice.edge];
      if (!notice.in_edge &&
          !(notice.in_edge =
                edge.before(numbers) && (edge.loops.empty() || notice.walk.begin(edge.loops, numbers))))
        continue;
      if (edge.key_stride != 0 && !counted && !edge.to_writer && own_ == nullptr) {
        if (!notify_consecutive(notice, edge, number, host)) [[unlikely]]
          return false;
        notice.in_edge = false;
        continue;
      }
      for (bool more = true; more;) {
        if (host.full()) [[unlikely]]
          return false;
        if (own_ != nullptr) [[unlikely]] {
          if (const std::int64_t off = own_->steps_to_own(edge, notice.walk, numbers); off != 0) {
            more = notice.walk.skip(edge.loops, off, numbers);
            continue;
          }
        }
        if (edge.to_writer && !counted && receives(edge, numbers) && ++writers > 1) [[unlikely]]
          host.misused(changed_twice(notice, edge));
        notify(notice, edge, number, counted, host);
        more = notice.walk.next(edge.loops, numbers);
      }
      notice.in_edge = false;
    }
    // This task no longer uses the value. acq_rel: the last reader sees the accesses of the others, and the writer.
    if (counted && readers(number).count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      release_value(number, host);
  }
  active_.give_back(host.thread(), over);
  return true;
}

/// Notifies one receiver.
template <class Host>
void Unfolding::notify(CompletionNotice& notice, const ClassEdge& edge, std::uint32_t number, bool counted,
                       Host& host) {
  std::int64_t* const numbers = notice.numbers.data();
  if (!edge.after.empty() && !edge.holds(numbers)) return;
  const TableClass& to = table_.classes[edge.to_class];
  const auto find_parameters = [&](std::int64_t* parameters) { edge.find_parameters(numbers, parameters); };
  std::uint64_t name = 0;
  if (edge.key) [[likely]] {
    name = static_cast<std::uint64_t>((*edge.key)(numbers));
  } else {
    std::array<std::int64_t, Walk::most_loops> parameters;
    find_parameters(parameters.data());
    std::optional<std::uint64_t> its = to.key_of(parameters.data());
    Numbers of_task;
    if (its && !has_task(to, parameters.data(), of_task.data())) [[unlikely]]
      its.reset();
    if (!its && edge.may_be_missing) [[unlikely]]
      return;
    const std::string why = wrong_end(notice, edge, its, parameters.data(), of_task.data());
    if (!why.empty()) [[unlikely]]
      return host.misused(why);
    name = *its;
  }
  if (counted && !edge.to_control) {
    ReaderCount& it = readers(number);
    if (edge.to_writer) {
      if (it.has_writer) return host.misused(changed_twice(notice, edge));
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

/// Like notify(), for the remaining iterations of a loop over consecutive keys. Returns false if the host is full.
template <class Host>
bool Unfolding::notify_consecutive(CompletionNotice& notice, const ClassEdge& edge, std::uint32_t number,
                                   Host& host) {
  std::int64_t* const numbers = notice.numbers.data();
  const TableClass& to = table_.classes[edge.to_class];
  const auto find_parameters = [&](std::int64_t* parameters) { edge.find_parameters(numbers, parameters); };
  const Arrival arrival{edge.to_class, edge.slot, edge.to_control, edge.makes_ready};
  const auto [last, step] = notice.walk.innermost();
  std::int64_t& place = numbers[edge.loops.front().place];
  const std::int64_t growth = edge.key_stride * step;
  for (std::int64_t name = (*edge.key)(numbers);; name += growth) {
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

/// The last reader of the value has finished.
template <class Host>
void Unfolding::release_value(std::uint32_t number, Host& host) {
  ReaderCount& it = readers(number);
  if (!it.has_writer) {
    if (values_[number].fresh) return host.unused(number);
    if (!come_home_) return;
    if (!it.write_back_waits.load(std::memory_order_acquire)) return;
    if (TaskInstance* const home = next_home(number)) host.satisfied(*home);
    return;
  }
  it.has_writer = false;
  if (come_home_) it.count.store(1, std::memory_order_relaxed);  // the writer holds it
  const TableClass& to = table_.classes[it.writer_class];
  const std::uint64_t writer = it.writer;
  const auto find_parameters = [&](std::int64_t* parameters) { to.parameters_of(writer, parameters); };
  arrive(to, {it.writer_class, to.slot_of(it.writer_flow), false, to.ready_at_once()}, writer,
         find_parameters, number, host);
}

/// An input has arrived: a value, or the completion of a task. Inlined, since it runs for every edge.
template <class FindParameters, class Host>
[[gnu::always_inline]] inline void Unfolding::arrive(const TableClass& to, const Arrival& arrival,
                                                     std::uint64_t name,
                                                     const FindParameters& find_parameters,
                                                     std::uint32_t number, Host& host) {
  const auto make_it = [&]() -> TaskInstance& {
    Numbers numbers;
    find_parameters(numbers.data());
    TaskInstance& task = make(to, arrival.task_class, name, numbers.data(), host.thread());
    if (arrival.makes_ready) return task;
    if (!to.same_places) to.place(task.parameters(), numbers.data());
    task.missing_inputs = missing_inputs(to, numbers.data());
    if (task.missing_inputs == 0) [[unlikely]] {
      host.misused(table_.text_of(task) + " receives a value but waits for none");
      task.missing_inputs = 2;  // it starts by itself, as an initial task
    }
    return task;
  };
  const auto put = [&](TaskInstance& task) {
    if (arrival.of_control) return;
    std::uint32_t& value = task.slots()[arrival.slot];
    if (value != no_value) [[unlikely]]
      host.misused(two_values(task, arrival.slot));
    value = number;
  };
  if (arrival.makes_ready) {
    TaskInstance& task = make_it();
    put(task);
    return host.satisfied(task);
  }
  if (TaskInstance* const last = partly_.arrived(name, make_it, put); last != nullptr) host.satisfied(*last);
}

}  // namespace fairlead::ptg
