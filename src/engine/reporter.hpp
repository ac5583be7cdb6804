// How one thread tells the engine what happened, and carries out what the engine answers. Finished tasks are
// told in batches; the engine always hears of a task's end before it hears of the successors that became
// ready by it. What fails meanwhile, as for want of memory, stops the run: whoever waits is told.
#pragma once
#include <deque>
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

  /// The body of a task of the direct lane is over: releases its successors, and forgets it. Those that the
  /// lane lets in go to this worker's queue, but the first, which is returned to be run next; the others
  /// become events. The task's source has to hear of it by count_up() before anybody waits for it.
  Task* over_in_lane(Task& task);
  /// The last `tasks` of the lane that are over ran in a row in this time and were not timed each.
  void share_time(std::size_t tasks, Time begin, Time end) noexcept {
    if (recorder_ != nullptr) recorder_->share_time(tasks, begin, end);
  }
  /// Tells the sources of the tasks of the lane that are over.
  void count_up() {
    if (uncounted_ != 0) tell_uncounted();
  }
  /// Puts a task that may pass by the lane where it has to go: true if that is this worker's queue.
  bool put_in_lane(Task& task) noexcept;
  /// The same for a recorded one, which has no descriptor yet.
  bool put_in_lane(graph::RecordedTask& task) noexcept { return engine_.lane().put(id_, task); }
  /// What was taken from a queue; null if that was nothing.
  Task* task_of(LaneItem item) {
    if (!item.is_recorded()) return item.task();
    return &item.recorded()->kind->run->describe(*item.recorded(), recycler_);
  }
  bool has_events() const noexcept { return !events_.empty(); }

  /// Adds an event that report() or serve() passes on.
  void add_ready(Task& task) noexcept {
    task.kind = EventKind::task_ready;
    graph::RecordedRun::given_away(task);
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
  void record(const Task& task);
  void complete(std::vector<Task*>& tasks);
  void recycle_applied();
  void divert_to_lane();
  void tell_uncounted();
  Task* release_recorded(Task& task);

  Engine& engine_;
  trace::TaskRecorder* const recorder_;  // null: nothing is recorded
  World& world_;
  std::uint16_t id_;
  Recycler recycler_;
  EventChain finished_, events_;
  std::vector<Task*> batch_;     // finished, not reported
  std::deque<Task*> unapplied_;  // reported; the engine may still look at them
  std::vector<Task*> cancelled_, emptied_;
  std::uint64_t forgotten_ = 0;
  bool shared_ = false;
  const bool has_queue_;  // in the direct lane
  TaskSource* uncounted_source_ = nullptr;
  std::size_t uncounted_ = 0;
  Commands commands_;
};

}  // namespace fairlead::engine
