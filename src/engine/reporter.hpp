// How one thread tells the engine what happened, and carries out what the engine answers. Finished tasks are
// told in batches; the engine always hears of a task's end before it hears of the successors that became
// ready by it. What fails meanwhile, as for want of memory, stops the run: whoever waits is told.
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "graph/graph.hpp"

namespace fairlead::engine {

class Reporter {
 public:
  /// `id` < Options::reporters, one per thread; a worker's own has the worker's number.
  Reporter(Engine& engine, World& world, graph::Graph& graph, std::uint16_t id);

  static constexpr std::size_t most_unreported = 32;
  /// Notes that the task's body is over; the engine learns of it by report(), which comes after
  /// `most_unreported` of them at the latest.
  void finished(Task& task, Time at, Duration duration);
  std::size_t unreported() const noexcept { return batch_.size(); }
  /// Tells the engine of all finished tasks, releases their successors, and serves.
  void report() noexcept;

  /// The body of a task of the direct lane is over: hands on what it releases, and forgets it. What the lane
  /// lets in goes to this worker's queue, but the first, which is returned to be run next; the others become
  /// events. The task's source has to hear of it by count_up() before anybody waits for it.
  LazyTask* over_in_lane(Task& task);
  /// The last `tasks` of the lane that are over ran in a row in this time and were not timed each.
  void share_time(std::size_t tasks, Time begin, Time end) noexcept {
    if (tracer_ != nullptr) tracer_->share_time(tasks, begin, end);
  }
  /// Tells the sources of the tasks of the lane that are over.
  void count_up() {
    if (uncounted_ != 0) tell_uncounted();
  }
  /// Puts a task that may pass by the lane where it has to go: true if that is this worker's queue.
  bool put_in_lane(Task& task) noexcept { return engine_.lane().put(id_, task); }
  /// The task, which the lane has let in, is not run now: it goes to this worker's queue, or to the engine.
  void put_back(LazyTask& task);
  /// The descriptor of what was taken from a queue.
  Task& describe(LazyTask& task) {
    if (task.family->described) return static_cast<Task&>(task);
    return task.family->source->describe(task, recycler_);
  }
  /// This thread has run out of work: asks the sources for more. True if there was some; what the lane lets
  /// in is in this worker's queue, the rest are events.
  bool ask_for_more();
  bool has_events() const noexcept { return !events_.empty(); }

  /// Adds an event that report() or serve() passes on.
  void add_ready(Task& task) noexcept {
    task.kind = EventKind::task_ready;
    task.source()->given_away();
    events_.append(task);
  }
  void add(Event& event) noexcept { events_.append(event); }
  void add(EventChain& events) noexcept;
  /// Passes events on; whoever serves next hears of them.
  void post() noexcept { engine_.entrance().post(events_); }
  /// Passes events on, serves if nobody else does, and carries out the commands.
  void serve() noexcept;
  /// As serve(), but waits for the engine's lock.
  void serve_surely() noexcept;

  Recycler& recycler() noexcept { return recycler_; }
  /// Several threads take turns with it, under a lock: they call the program's callbacks after letting go.
  void share() noexcept { shared_ = true; }
  /// Calls what the program wanted to be called by now. The caller holds no lock.
  void run_callbacks() noexcept;

 private:
  template <class F>
  void or_stop(F&& f) noexcept;
  void report_all();
  void carry_out();
  void carry_out_once();
  void record(const Task& task);
  void complete(std::vector<Task*>& tasks);
  void recycle_applied();
  bool has_own_work() const noexcept { return engine_.lane().something_queued_by(id_); }
  void hand_on(std::span<LazyTask* const> lazy, EventChain& described, LazyTask** next = nullptr);
  void tell_uncounted();

  Engine& engine_;
  trace::TaskTracer* const tracer_;  // null: nothing is recorded
  World& world_;
  std::uint16_t id_;
  Recycler recycler_;
  EventChain finished_, events_;
  std::vector<Task*> batch_;     // finished, not reported
  std::deque<Task*> unapplied_;  // reported; the engine may still look at them
  std::vector<Task*> cancelled_, emptied_;
  std::uint64_t forgotten_ = 0;
  bool shared_ = false;
  TaskSource* uncounted_source_ = nullptr;
  std::size_t uncounted_ = 0;
  Commands commands_;
};

}  // namespace fairlead::engine
