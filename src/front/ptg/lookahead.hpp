// Lookahead for planning policies: unfolds a parameterized graph ahead of its execution, in an order in which the
// tasks could run, up to the policy's horizon. Each task has a descriptor from its announcement until it is handed
// out.
#pragma once
#include <fairlead/error.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "front/ptg/fresh_data.hpp"
#include "front/ptg/initial_tasks.hpp"
#include "front/ptg/unfolding.hpp"

namespace fairlead::ptg {

/// Used by one thread at a time, except functions marked thread-safe.
class Lookahead {
 public:
  Lookahead(const ClassTable& table, const TaskKinds& kinds, FlowValues& values, TaskInstancePool& active,
            FreshData& fresh)
      : table_(table),
        kinds_(kinds),
        values_(values),
        fresh_(fresh),
        unfolding_(table, kinds, values, active),
        initial_(table) {}

  /// A task that has been announced to the policy and not handed out yet.
  struct Announced {
    Task* task = nullptr;
    std::vector<std::uint32_t> values;  ///< numbers of its values, by flow
  };
  /// Call before each run. `first_id`: the id of the first task.
  void begin(std::uint64_t first_id);
  std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return announced_.size();
  }
  /// True if all tasks have been announced.
  bool all_announced() const noexcept {
    return initial_over_ && !starved_ && queue_.empty() && notices_.empty();
  }
  /// Announces the next task: creates its descriptor and continues with its successors as if it had finished.
  /// `family(active, numbers)` returns the task's family; `announce(task)` is called before any thread can take the
  /// task; `misused(text)` reports an invalid graph. `begins` is set to the record of a task without predecessors,
  /// otherwise to null. Returns false if there is no task now: all are announced, or the next one waits for a fresh
  /// datum. Throws UsageError if a formula of the graph divides by 0.
  template <class Family, class Announce>
  bool next(Recycler& recycler, Family&& family, Announce&& announce, TaskInstance*& begins,
            const std::function<void(const std::string&)>& misused);
  /// The graph is invalid: no more tasks are announced. Tasks already announced run as before.
  void give_up() {
    queue_.clear();
    notices_.clear();
    initial_over_ = given_up_ = true;
    starved_ = false;
  }
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
  void retry(TaskInstance& task) {
    if (given_up_) return;
    queue_.push_front(&task);
    starved_ = false;
  }

 private:
  static constexpr std::size_t most_queued = 4096;
  struct Host {
    Lookahead& ahead;
    std::size_t number;
    const std::function<void(const std::string&)>& say;
    std::size_t thread() const noexcept { return number; }
    bool full() const noexcept { return ahead.queue_.size() >= most_queued; }
    void satisfied(TaskInstance& task) { ahead.queue_.push_back(&task); }
    void unused(std::uint32_t) {}  // later tasks still use the value
    void misused(const std::string& why) { say(why); }
  };
  TaskInstance* next_satisfied(Host& host);
  bool take_values(TaskInstance& task, const std::int64_t* numbers);

  const ClassTable& table_;
  const TaskKinds& kinds_;
  FlowValues& values_;
  FreshData& fresh_;
  Unfolding unfolding_;
  InitialTasks initial_;
  bool initial_over_ = false, starved_ = false, given_up_ = false;
  std::uint64_t next_id_ = 0;
  std::deque<TaskInstance*> queue_;                         // tasks with all inputs
  std::vector<CompletionNotice> notices_;                   // interrupted because the queue was full
  mutable std::mutex mutex_;                                // guards the member below
  std::unordered_map<std::uint64_t, Announced> announced_;  // by task key
};

template <class Family, class Announce>
bool Lookahead::next(Recycler& recycler, Family&& family, Announce&& announce, TaskInstance*& begins,
                     const std::function<void(const std::string&)>& misused) {
  begins = nullptr;
  if (starved_) return false;
  Host host{*this, recycler.thread(), misused};
  TaskInstance* const active = next_satisfied(host);
  if (active == nullptr) return false;
  const TableClass& of = table_.classes[active->task_class];
  CompletionNotice notice;
  of.place(active->parameters(), notice.numbers.data());
  if (!take_values(*active, notice.numbers.data())) return false;
  const TaskFamily* const its_family = family(*active, notice.numbers.data());
  const bool waits_for_nothing = unfolding_.missing_inputs(of, notice.numbers.data()) == 0;
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
    begins = &unfolding_.make(of, active->task_class, active->key, parameters.data(), host.number);
  }
  notice.task = active;
  if (!unfolding_.notify_successors(notice, host)) notices_.push_back(notice);
  return true;
}

}  // namespace fairlead::ptg
