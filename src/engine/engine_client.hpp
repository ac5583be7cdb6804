// Connects one thread to the engine: reports events and executes the engine's commands. Finished tasks are reported in
// batches, and always before the successors that they made ready. An error on the way, such as a lack of memory, stops
// the run and wakes all waiting threads.
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "graph/dependency_graph.hpp"

namespace fairlead::engine {

class EngineClient {
 public:
  /// `id` < Options::reporters, one per thread; a worker's reporter has the worker's number.
  EngineClient(Engine& engine, World& world, graph::DependencyGraph& graph, std::uint16_t id);

  static constexpr std::size_t most_unreported = 32;
  /// Notes that the task's body is finished. The engine learns of it by report(), which must be called after at most
  /// `most_unreported` tasks.
  void finished(Task& task, Time at, Duration duration);
  std::size_t unreported() const noexcept { return batch_.size(); }
  /// Reports all finished tasks to the engine, releases their successors, and serves events.
  void report() noexcept;

  /// The body of a fast-path task is finished: hands out its successors and recycles its descriptor. The first
  /// successor that the fast path admits is returned, to be run next. Others go to this worker's queue, or become
  /// events. The task's source must be notified by count_up() before any thread waits for it.
  LazyTask* finish_in_fast_path(Task& task);
  /// The last `tasks` fast-path tasks ran consecutively in this time and were not timed individually.
  void share_time(std::size_t tasks, Time begin, Time end) noexcept {
    if (tracer_ != nullptr) tracer_->share_time(tasks, begin, end);
  }
  /// Notifies the sources of the fast-path tasks that are finished.
  void flush_counts() {
    if (uncounted_ != 0) flush_uncounted();
  }
  /// Queues a task if the fast path admits it; true if it is in this worker's queue.
  bool put_in_fast_path(Task& task) noexcept { return engine_.fast_path().put(id_, task); }
  /// Returns a fast-path task that is not run now to this worker's queue, or passes it to the engine.
  void put_back(LazyTask& task);
  /// The descriptor of a task taken from a queue.
  Task& describe(LazyTask& task) {
    if (task.family->described) return static_cast<Task&>(task);
    return task.family->source->describe(task, recycler_);
  }
  /// Asks the sources for tasks, when this thread has run out of work. Returns true if there were any. Tasks that the
  /// fast path admits are in this worker's queue; the others are events.
  bool ask_for_more();
  bool has_events() const noexcept { return !events_.empty(); }

  /// Adds an event that report() or serve() posts.
  void add_ready(Task& task) noexcept {
    task.kind = EventKind::task_ready;
    task.source()->given_away();
    events_.append(task);
  }
  void add(Event& event) noexcept { events_.append(event); }
  void add(EventChain& events) noexcept;
  /// Posts the events; the next thread that serves handles them.
  void post() noexcept { engine_.entrance().post(events_); }
  /// Posts the events, serves if no other thread does, and executes the commands.
  void serve() noexcept;
  /// As serve(), but waits for the engine's lock.
  void serve_blocking() noexcept;

  Recycler& recycler() noexcept { return recycler_; }
  /// Several threads use this reporter in turn, under a lock; they call the program's callbacks after releasing the
  /// lock.
  void share() noexcept { shared_ = true; }
  /// Calls the program's pending callbacks. The caller holds no lock.
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
  bool has_own_work() const noexcept { return engine_.fast_path().something_queued_by(id_); }
  void hand_on(std::span<LazyTask* const> lazy, EventChain& described, LazyTask** next = nullptr);
  void flush_uncounted();

  Engine& engine_;
  trace::TaskTracer* const tracer_;  // null: recording is disabled
  World& world_;
  std::uint16_t id_;
  Recycler recycler_;
  EventChain finished_, events_;
  std::vector<Task*> batch_;     // finished, not reported
  std::deque<Task*> unapplied_;  // reported; the engine may still read them
  std::vector<Task*> cancelled_, emptied_;
  std::uint64_t forgotten_ = 0;
  bool shared_ = false;
  TaskSource* uncounted_source_ = nullptr;
  std::size_t uncounted_ = 0;
  Commands commands_;
};

}  // namespace fairlead::engine
