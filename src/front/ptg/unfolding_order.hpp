// The tasks of a parameterized graph in an order in which they could run, each with the data of its values, as if a task had
// finished as soon as it is taken. For planning policies (lookahead.hpp), and for graphs that are submitted to a flow
// (submitted_graph.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "front/ptg/fresh_data.hpp"
#include "front/ptg/initial_tasks.hpp"
#include "front/ptg/unfolding.hpp"

namespace fairlead::ptg {

/// Used by one thread at a time.
class UnfoldingOrder {
 public:
  /// Reports an invalid graph.
  using Misused = std::function<void(const std::string&)>;

  /// The other objects must outlive it. `unused(number)`: the last task that uses the fresh value was taken; may be empty.
  UnfoldingOrder(const ClassTable& table, const TaskKinds& kinds, FlowValues& values,
                 TaskInstancePool& active, FreshData& fresh, std::function<void(std::uint32_t)> unused)
      : table_(table),
        values_(values),
        fresh_(fresh),
        unused_(std::move(unused)),
        unfolding_(table, kinds, values, active),
        initial_(table) {}

  /// Call before each run.
  void begin();
  /// True if all tasks were taken.
  bool is_over() const noexcept { return initial_over_ && !starved_ && queue_.empty() && notices_.empty(); }
  /// The next task, with its values; places its parameters in `notice`. Null: all were taken, or the next one waits for a
  /// fresh datum. Throws UsageError if a formula of the graph divides by 0.
  TaskInstance* next(std::size_t thread, CompletionNotice& notice, const Misused& misused);
  /// Continues with the successors of the task from next(), whose record is recycled.
  void finish(CompletionNotice& notice, std::size_t thread, const Misused& misused);
  /// Call when there is a fresh datum for the task that waited for one.
  void retry(TaskInstance& task);
  /// The graph is invalid: no more tasks are taken.
  void give_up();
  /// Tasks that wait for inputs.
  const PendingTasks& pending() const noexcept { return unfolding_.partly(); }
  /// For tasks that are given out again.
  Unfolding& unfolding() noexcept { return unfolding_; }

 private:
  static constexpr std::size_t most_queued = 4096;
  struct Host {
    UnfoldingOrder& order;
    std::size_t number;
    const Misused& say;
    std::size_t thread() const noexcept { return number; }
    bool full() const noexcept { return order.queue_.size() >= most_queued; }
    void satisfied(TaskInstance& task) { order.queue_.push_back(&task); }
    void unused(std::uint32_t value) {
      if (order.unused_) order.unused_(value);
    }
    void misused(const std::string& why) { say(why); }
  };
  TaskInstance* next_satisfied(Host& host);
  bool take_values(TaskInstance& task, const std::int64_t* numbers);

  const ClassTable& table_;
  FlowValues& values_;
  FreshData& fresh_;
  const std::function<void(std::uint32_t)> unused_;
  Unfolding unfolding_;
  InitialTasks initial_;
  bool initial_over_ = false, starved_ = false, given_up_ = false;
  std::deque<TaskInstance*> queue_;        // tasks with all inputs
  std::vector<CompletionNotice> notices_;  // interrupted because the queue was full
};

}  // namespace fairlead::ptg
