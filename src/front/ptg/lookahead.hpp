// Lookahead for planning policies: unfolds a parameterized graph ahead of its execution, in an order in which the
// tasks could run, up to the policy's horizon. Each task has a descriptor from its announcement until it is handed
// out.
#pragma once
#include <fairlead/error.hpp>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "front/ptg/fresh_data.hpp"
#include "front/ptg/unfolding_order.hpp"

namespace fairlead::ptg {

/// Used by one thread at a time, except functions marked thread-safe.
class Lookahead {
 public:
  Lookahead(const ClassTable& table, const TaskKinds& kinds, FlowValues& values, TaskInstancePool& active,
            FreshData& fresh)
      : table_(table), kinds_(kinds), values_(values), order_(table, kinds, values, active, fresh, {}) {}

  /// A task that has been announced to the policy and not handed out yet.
  struct Announced {
    Task* task = nullptr;
    std::vector<std::uint32_t> values;  ///< numbers of its values, by flow
  };
  /// Call before each run. `first_id`: the id of the first task.
  void begin(std::uint64_t first_id) {
    order_.begin();
    next_id_ = first_id;
    announced_.clear();
  }
  std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return announced_.size();
  }
  /// True if all tasks have been announced.
  bool all_announced() const noexcept { return order_.is_over(); }
  /// Announces the next task: creates its descriptor and continues with its successors as if it had finished.
  /// `family(active, numbers)` returns the task's family; `announce(task)` is called before any thread can take the
  /// task; `misused(text)` reports an invalid graph. `begins` is set to the record of a task without predecessors,
  /// otherwise to null. Returns false if there is no task now: all are announced, or the next one waits for a fresh
  /// datum. Throws UsageError if a formula of the graph divides by 0.
  template <class Family, class Announce>
  bool next(Recycler& recycler, Family&& family, Announce&& announce, TaskInstance*& begins,
            const UnfoldingOrder::Misused& misused);
  /// The graph is invalid: no more tasks are announced. Tasks already announced run as before.
  void give_up() { order_.give_up(); }
  /// Removes and returns the task that next() has announced; empty if it has not. Thread-safe.
  Announced take(std::uint64_t name) {
    const std::lock_guard guard(mutex_);
    const auto found = announced_.find(name);
    if (found == announced_.end()) return {};
    Announced announced = std::move(found->second);
    announced_.erase(found);
    return announced;
  }
  /// Call when there is a fresh datum for the task that waited for one.
  void retry(TaskInstance& task) { order_.retry(task); }

 private:
  const ClassTable& table_;
  const TaskKinds& kinds_;
  FlowValues& values_;
  UnfoldingOrder order_;  // values stay in use after their last task was announced
  std::uint64_t next_id_ = 0;
  mutable std::mutex mutex_;                                // guards the member below
  std::unordered_map<std::uint64_t, Announced> announced_;  // by task key
};

template <class Family, class Announce>
bool Lookahead::next(Recycler& recycler, Family&& family, Announce&& announce, TaskInstance*& begins,
                     const UnfoldingOrder::Misused& misused) {
  begins = nullptr;
  CompletionNotice notice;
  TaskInstance* const active = order_.next(recycler.thread(), notice, misused);
  if (active == nullptr) return false;
  const TableClass& of = table_.classes[active->task_class];
  const TaskFamily* const its_family = family(*active, notice.numbers.data());
  const bool waits_for_nothing = order_.unfolding().missing_inputs(of, notice.numbers.data()) == 0;
  Task& task = recycler.take();
  task.begin(static_cast<TaskId>(next_id_++), task.inline_access.data(), 0);
  task.family = its_family;
  task.at = {};
  try {
    kinds_.fill_descriptor(task, *active, values_);
  } catch (const UsageError& error) {
    misused(error.what());  // the task does not run
  }
  announce(task);
  // From here on other threads may hand out, run and finish the task.
  const std::uint32_t* const values = active->values(of.parameters.size());
  {
    Announced announced{&task, {values, values + of.data_flows}};
    const std::lock_guard guard(mutex_);
    announced_.emplace(active->key, std::move(announced));
  }
  if (waits_for_nothing) {
    std::vector<std::int64_t> parameters(active->parameters(), active->parameters() + of.parameters.size());
    begins =
        &order_.unfolding().make(of, active->task_class, active->key, parameters.data(), recycler.thread());
  }
  order_.finish(notice, recycler.thread(), misused);
  return true;
}

}  // namespace fairlead::ptg
