// Sources of tasks: front ends behind one small interface, so that the layers below do not depend on the front end.
// A source need not have all its tasks in memory. It hands out a batch at a time: the tasks that a completion makes
// ready (release()), and, when a thread runs out of work, further ready tasks (more()): tasks without predecessors,
// or the rest of those that one task released. A task is handed out described, in a descriptor, or lazy; then the
// thread that runs it has it described.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/event_chain.hpp"
#include "data/task.hpp"

namespace fairlead {

/// A thread's own store of free descriptors, passed along when it completes tasks.
class Recycler;

/// A batch of tasks that became ready, for the calling thread. The source checks full() before it adds a task and
/// leaves the rest to TaskSource::more().
class ReadyTasks {
 public:
  /// Tasks beyond this number that one completion releases wait for a call of more(), so few completions should
  /// exceed it.
  static constexpr std::size_t most = 1024;

  /// `generation`: that of the fast path to which this thread may add lazy tasks; 0: none.
  ReadyTasks(Recycler& of, EventChain& into, std::uint32_t generation) noexcept
      : recycler(of), described(into), fast_path(generation) {}
  ReadyTasks(const ReadyTasks&) = delete;
  ReadyTasks& operator=(const ReadyTasks&) = delete;

  bool full() const noexcept { return added_ >= most; }
  std::size_t size() const noexcept { return added_; }
  /// Adds a lazy task, which the fast path accepts in its generation `fast_path`.
  void add(LazyTask& task) noexcept {
    lazy_[lazy_count_++] = &task;
    ++added_;
  }
  /// Adds a described task, which goes where its own generation permits.
  void add(Task& task) noexcept {
    task.kind = EventKind::task_ready;
    described.append(task);
    ++added_;
  }
  std::span<LazyTask* const> lazy() const noexcept { return std::span(lazy_).first(lazy_count_); }

  Recycler& recycler;
  EventChain& described;  ///< a source whose ready tasks have descriptors anyway may append any number
  const std::uint32_t fast_path;

 private:
  std::size_t added_ = 0, lazy_count_ = 0;
  std::array<LazyTask*, most> lazy_;  // uninitialized, since a batch is constructed for each task
};

/// A front end as seen by the runtime. Any threads may call each function concurrently, except more(): one thread at
/// a time. Only release() and count() may be called under the engine's lock: they must be short and must not enter
/// the engine.
class TaskSource {
 public:
  TaskSource() = default;
  TaskSource(const TaskSource&) = delete;
  TaskSource& operator=(const TaskSource&) = delete;
  virtual ~TaskSource() = default;

  /// The task has completed, and the engine has been notified if it had the task. Hands out the tasks that became
  /// ready.
  virtual void release(Task& over, ReadyTasks& ready) = 0;
  /// So many tasks have completed, and the tasks that they released are handed out. The source may be destroyed
  /// afterwards.
  virtual void count(std::size_t tasks, Recycler&) { static_cast<void>(tasks); }

  /// Hands out a batch of further ready tasks. True if there are more. The batch is empty only if there are none.
  /// Here a source reports to planning policies what lies ahead (see engine::CountedSource). engine/backlog.hpp
  /// describes when this is called.
  virtual bool more(ReadyTasks&) { return false; }

  // ---- of sources that hand out lazy tasks

  /// Fills in the task's descriptor, before the task runs or goes to the engine.
  virtual Task& describe(LazyTask& task, Recycler&) { return static_cast<Task&>(task); }
  /// The task is about to run on this thread, which alone refers to it: may prefetch what it will use.
  virtual void look_ahead(const LazyTask&) const noexcept {}
  /// One of its tasks goes to the engine, from where any thread may take it.
  virtual void given_away() noexcept {}

  /// The task's own name for messages, in addition to its codelet's; empty: none.
  virtual std::string name_of(const Task&) const { return {}; }

  /// The hold has its data, which are the application's until the release.
  virtual void granted(Task& hold) { (void)hold; }

  std::uint32_t id = 0;  ///< in order of creation; identifies the source in logs
  /// Its unstarted tasks complete without running. Set by the engine, also read by workers.
  std::atomic<bool> cancelled{false};
  /// The family of its tasks that are descriptors.
  const TaskFamily described{.source = this, .described = true};
  /// The family of its tasks that are in the graph.
  const TaskFamily in_graph{.source = this, .described = true, .in_graph = true};
};

}  // namespace fairlead
