// Where tasks come from: a front end behind one small interface, so that nothing below knows which one made a
// task.
//
// A source never has to have all its tasks at hand. It hands out a batch at a time: what became ready by the
// end of a task (release), and, when a thread has run out of work, some of what it has not handed out yet
// (more): tasks that wait for nothing, or the rest of those that one task released. What it hands out is
// either described, that is, in a descriptor, or lazy: then it is described by the thread that runs it.
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

/// What a thread that completes tasks brings along: its own store of emptied descriptors.
class Recycler;

/// What became ready, for the thread that asked. A batch: whoever adds looks first whether there is room, and
/// leaves the rest to TaskSource::more().
class ReadyTasks {
 public:
  /// What a task's end releases beyond that waits until somebody asks for it, while others go on: few ends ought to.
  static constexpr std::size_t most = 1024;

  /// `lane`: the generation of the direct lane in which this thread may put lazy tasks; 0: none.
  ReadyTasks(Recycler& of, EventChain& into, std::uint32_t generation) noexcept
      : recycler(of), described(into), lane(generation) {}
  ReadyTasks(const ReadyTasks&) = delete;
  ReadyTasks& operator=(const ReadyTasks&) = delete;

  bool full() const noexcept { return added_ >= most; }
  std::size_t size() const noexcept { return added_; }
  /// `lane` lets it in.
  void add(LazyTask& task) noexcept {
    lazy_[lazy_count_++] = &task;
    ++added_;
  }
  /// It was filled in, and goes where its own generation lets it.
  void add(Task& task) noexcept {
    task.kind = EventKind::task_ready;
    described.append(task);
    ++added_;
  }
  std::span<LazyTask* const> lazy() const noexcept { return std::span(lazy_).first(lazy_count_); }

  Recycler& recycler;
  EventChain& described;  ///< a source whose ready tasks have descriptors anyway may append as many as it has
  const std::uint32_t lane;

 private:
  std::size_t added_ = 0, lazy_count_ = 0;
  std::array<LazyTask*, most> lazy_;  // not initialized: it is made for each task
};

/// A front end as the runtime sees it. Each function may be called by any thread, and by several at a time, but
/// more(), which one thread calls at a time. None is called under the engine's lock but release() and count(),
/// which may be: they must be short, and must not enter the engine.
class TaskSource {
 public:
  TaskSource() = default;
  TaskSource(const TaskSource&) = delete;
  TaskSource& operator=(const TaskSource&) = delete;
  virtual ~TaskSource() = default;

  /// The task is over; the engine has been told, if it knew the task. Hands out what became ready by that.
  virtual void release(Task& over, ReadyTasks& ready) = 0;
  /// So many tasks are over, and what they released is handed out. Afterwards the source may be gone.
  virtual void count(std::size_t tasks, Recycler&) { static_cast<void>(tasks); }

  /// Hands out a batch of what is ready and was not handed out. True if there is still more. It may hand out
  /// nothing, but only if there is nothing. Here a source tells planning policies what it has ahead (see
  /// engine::CountedSource). Who calls when: engine/backlog.hpp.
  virtual bool more(ReadyTasks&) { return false; }

  // ---- of sources that hand out lazy tasks

  /// The task's descriptor, filled in: it is about to run, or goes to the engine.
  virtual Task& describe(LazyTask& task, Recycler&) { return static_cast<Task&>(task); }
  /// The task is about to run on this thread, and nobody else looks at it: what will be used may be fetched.
  virtual void look_ahead(const LazyTask&) const noexcept {}
  /// A task of it goes to the engine, from where any thread may take it.
  virtual void given_away() noexcept {}

  /// What the task is called besides what it does, for messages; empty: nothing.
  virtual std::string name_of(const Task&) const { return {}; }

  /// The hold has its data: they are the application's until it is released.
  virtual void granted(Task& hold) { (void)hold; }

  std::uint32_t id = 0;  ///< in order of creation; names the source in logs
  /// Its unstarted tasks complete without running. Changed by the engine; workers look at it, too.
  std::atomic<bool> cancelled{false};
  /// Of its tasks that are descriptors.
  const TaskFamily described{.source = this, .described = true};
  /// Of those that are in the graph.
  const TaskFamily in_graph{.source = this, .described = true, .in_graph = true};
};

}  // namespace fairlead
