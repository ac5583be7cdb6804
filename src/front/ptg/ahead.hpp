// A parameterized graph as policies that plan see it: unfolded ahead of what runs, in an order in which the tasks
// could run, as far as the policy looks. Each task has its descriptor from then on until it is handed out.
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

/// One thread at a time, but for what any may call.
class Ahead {
 public:
  Ahead(const ClassTable& table, const TaskKinds& kinds, Values& values, ActiveTasks& active,
        FreshData& fresh)
      : table_(table),
        kinds_(kinds),
        values_(values),
        fresh_(fresh),
        unfolding_(table, kinds, values, active),
        initial_(table) {}

  /// A task that has been announced, and not been handed out.
  struct Announced {
    Task* task = nullptr;
    std::vector<std::uint32_t> values;  ///< by flow
  };
  /// Before a run; the first of the tasks' ids.
  void begin(std::uint64_t first_id);
  std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return announced_.size();
  }
  /// There are no more.
  bool all_made() const noexcept { return initial_over_ && !starved_ && queue_.empty() && tellings_.empty(); }
  /// Makes the next task's descriptor, and forgets that the task has to come. `family(active, numbers)`: what it
  /// belongs to; `announce(task)`: before anybody can take it; `misused(text)`. False if there is none now: all have
  /// been made, or one waits for a fresh datum. `begins`: set to a task that waits for nothing, if it is one. Throws
  /// UsageError if a formula of the graph divides by 0.
  template <class Family, class Announce>
  bool next(Recycler& recycler, Family&& family, Announce&& announce, ActiveTask*& begins,
            const std::function<void(const std::string&)>& misused);
  /// The graph is wrong: no more are made. What has been announced is fed as ever.
  void give_up() {
    queue_.clear();
    tellings_.clear();
    initial_over_ = given_up_ = true;
    starved_ = false;
  }
  /// Where the task is that next() has made; an empty one if it has not. Any thread.
  Announced take(std::uint64_t name) {
    const std::lock_guard guard(mutex_);
    const auto found = announced_.find(name);
    if (found == announced_.end()) return {};
    Announced announced = std::move(found->second);
    announced_.erase(found);
    return announced;
  }
  /// The task has starved for a fresh datum, and there is one now.
  void again(ActiveTask& task) {
    if (given_up_) return;
    queue_.push_front(&task);
    starved_ = false;
  }

 private:
  static constexpr std::size_t most_queued = 4096;
  struct Host {
    Ahead& ahead;
    std::size_t number;
    const std::function<void(const std::string&)>& say;
    std::size_t thread() const noexcept { return number; }
    bool full() const noexcept { return ahead.queue_.size() >= most_queued; }
    void satisfied(ActiveTask& task) { ahead.queue_.push_back(&task); }
    void unused(std::uint32_t) {}  // the tasks still use it
    void misused(const std::string& why) { say(why); }
  };
  ActiveTask* next_satisfied(Host& host);
  bool take_values(ActiveTask& task, const std::int64_t* numbers);

  const ClassTable& table_;
  const TaskKinds& kinds_;
  Values& values_;
  FreshData& fresh_;
  Unfolding unfolding_;
  InitialTasks initial_;
  bool initial_over_ = false, starved_ = false, given_up_ = false;
  std::uint64_t next_id_ = 0;
  std::deque<ActiveTask*> queue_;  // satisfied
  std::vector<Telling> tellings_;  // that could not be ended, since the queue was full
  mutable std::mutex mutex_;       // guards what follows
  std::unordered_map<std::uint64_t, Announced> announced_;  // by name
};

template <class Family, class Announce>
bool Ahead::next(Recycler& recycler, Family&& family, Announce&& announce, ActiveTask*& begins,
                 const std::function<void(const std::string&)>& misused) {
  begins = nullptr;
  if (starved_) return false;
  Host host{*this, recycler.thread(), misused};
  ActiveTask* const active = next_satisfied(host);
  if (active == nullptr) return false;
  const TableClass& of = table_.classes[active->task_class];
  Telling telling;
  of.place(active->parameters(), telling.numbers.data());
  if (!take_values(*active, telling.numbers.data())) return false;
  const TaskFamily* const its_family = family(*active, telling.numbers.data());
  const bool waits_for_nothing = unfolding_.waits_for(of, telling.numbers.data()) == 0;
  Task& task = recycler.take();
  task.begin(static_cast<TaskId>(next_id_++), task.inline_access.data(), 0);
  task.family = its_family;
  task.at = {};
  try {
    kinds_.fill(task, *active, values_);
  } catch (const UsageError& error) {
    misused(error.what());  // then it does not run
  }
  announce(task);
  // From here on others hand it out, run it and end it.
  const std::uint32_t* const values = active->values(of.parameters.size());
  {
    Announced announced{&task, {values, values + of.data_flows}};
    const std::lock_guard guard(mutex_);
    announced_.emplace(active->name, std::move(announced));
  }
  if (waits_for_nothing) {
    std::vector<std::int64_t> parameters(active->parameters(), active->parameters() + of.parameters.size());
    begins = &unfolding_.make(of, active->task_class, active->name, parameters.data(), host.number);
  }
  telling.over = active;
  if (!unfolding_.go_on(telling, host)) tellings_.push_back(telling);
  return true;
}

}  // namespace fairlead::ptg
