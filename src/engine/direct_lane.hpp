// The direct lane: while all data fit where all workers reach them and the policy's order is the workers' own
// queues, a task that becomes ready goes to the queue of the worker that released it, and from there to its
// body, without the engine's lock. docs/how-it-works.md tells what keeps that consistent with what the engine
// does.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/lane_queue.hpp"

namespace fairlead::engine {

/// What a worker executes, for those who ask while it does.
struct LaneBody {
  TaskId id;
  const CodeletInfo* codelet;
  SubmitLine submitted_at;
  std::array<DatumId, inline_accesses> data;
  std::size_t data_count;  ///< more than `data` has room for are not told
};

/// What asks for nothing that the lane has not: to run on any core, on data that stay where they are, before
/// others or with them. Which of several bodies runs is the engine's to choose, and only it hears of ends that
/// come later.
inline bool may_pass(const TaskTraits& task) noexcept {
  return task.priority >= 0 && task.scratch_bytes == 0 && task.nodes_excluded == 0 &&
         task.workers_wanted == 0 && !task.codelet->has_choice(WorkerKind::cpu) &&
         !task.codelet->for_kind(WorkerKind::cpu).asynchronous;
}

/// A priority above 0: the lane takes these first, in the order in which they became ready. More urgencies would
/// take a sorted queue, which whoever steals would have to lock.
inline bool is_urgent(const LazyTask& task) noexcept {
  return task.family->described ? static_cast<const Task&>(task).priority > 0 : task.family->urgent;
}

/// Open during a *generation*: a task and data that were let in during one pass by the lane in that one only.
/// Whoever takes a task from a queue looks at the generation after he has said that he is inside, so that
/// once the lane is closed and nobody is inside, nothing runs in it any more, whatever is left in the queues.
class DirectLane {
 public:
  /// `threads`: those that put tasks in; the first of them are the workers. Each has a queue.
  DirectLane(std::size_t workers, std::size_t threads);

  /// 0: it is closed. Any thread; sequentially consistent, see left().
  std::uint32_t generation() const noexcept { return generation_.load(); }
  bool lets_in(const Task& task) const noexcept { return task.lane != 0 && task.lane == generation(); }

  // ---- the engine's, under its lock

  void open() noexcept { generation_.store(++last_); }
  /// Any thread may; the engine has to be entered afterwards.
  void close() noexcept { generation_.store(0); }
  /// Nothing runs in it, nor will before it is opened again. Closed, and asked after that.
  bool left() const noexcept;
  /// The same, and no task is in a queue either. In this order: who took the last one out was inside before.
  bool still() const noexcept { return !something_queued() && left(); }

  // ---- one thread's; worker 0's is the application's

  /// The task is ready: false if it has to be told to the engine instead. Whoever sleeps has to be woken. What
  /// threads put in that are no workers, others steal.
  bool put(std::size_t thread, Task& task) noexcept {
    return lets_in(task) && put(thread, static_cast<LazyTask&>(task));
  }
  /// The same for one that the present generation lets in, or did so a moment ago.
  bool put(std::size_t thread, LazyTask& task) noexcept {
    if (thread >= looked_at_.load(std::memory_order_relaxed)) [[unlikely]]
      look_at_all();
    if (is_urgent(task)) [[unlikely]] {
      if (!some_urgent_.load(std::memory_order_relaxed)) some_urgent_.store(true);
      return put_into(own(thread).urgent, thread, task);
    }
    return put_into(own(thread).ordinary, thread, task);
  }

  // ---- one worker's, by its thread

  /// From now on it may run tasks; each only while lets_in() holds. To be called again if it was outside.
  void enter(std::size_t worker) noexcept {
    Own& it = own(worker);
    if (it.inside) return;
    it.inside = true;
    it.seen_inside.store(true);  // sequentially consistent, see left()
  }
  bool inside(std::size_t worker) const noexcept { return threads_[worker].inside; }
  /// Before it leaves: a task that waits behind its queues, where nobody else sees it; none is left in the end.
  LazyTask* take_kept(std::size_t worker) noexcept {
    LazyTask* const urgent = own(worker).urgent.take_kept();
    return urgent != nullptr ? urgent : own(worker).ordinary.take_kept();
  }
  /// True if the engine has to be entered: the lane was closed, and it may have waited for this worker.
  bool leave(std::size_t worker) noexcept {
    Own& it = own(worker);
    if (!it.inside) return false;
    it.inside = false;
    it.seen_inside.store(false);
    return generation_.load() == 0;
  }
  /// The next task: the worker's own, else half of somebody's urgent ones, else half of all others of who has at
  /// least `least`. Inside only.
  LazyTask* take(std::size_t worker, std::size_t least = 1) noexcept;
  /// There may be something to take. Any thread.
  bool something_queued(std::size_t least = 1) const noexcept;
  bool something_queued_by(std::size_t thread) const noexcept { return threads_[thread].queued() != 0; }
  /// The worker, who has this task in hand, has a more urgent one.
  bool overtaken(std::size_t worker, const LazyTask& task) const noexcept {
    return some_urgent_.load(std::memory_order_relaxed) && !threads_[worker].urgent.empty() &&
           !is_urgent(task);
  }
  std::size_t queued() const noexcept;

  /// What is executed, and that it is over. Only the worker writes, so that all of it is without locked
  /// instructions.
  void begin_body(std::size_t worker, const Task& task) noexcept;
  void end_body(std::size_t worker) noexcept {
    auto& turn = own(worker).turn;
    turn.store(turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void count(std::size_t worker, std::uint64_t tasks, Duration busy) noexcept {
    Own& it = own(worker);
    it.tasks.store(it.tasks.load(std::memory_order_relaxed) + tasks, std::memory_order_relaxed);
    it.busy.store(it.busy.load(std::memory_order_relaxed) + busy.count(), std::memory_order_relaxed);
  }

  // ---- any thread

  /// The body that ran when this was called; none if there was no one body.
  std::optional<LaneBody> body(std::size_t worker) const noexcept;
  std::uint64_t tasks(std::size_t worker) const noexcept {
    return threads_[worker].tasks.load(std::memory_order_relaxed);
  }
  std::uint64_t tasks() const noexcept;
  Duration busy(std::size_t worker) const noexcept {
    return Duration(threads_[worker].busy.load(std::memory_order_relaxed));
  }

 private:
  struct alignas(64) Own {
    LaneQueue urgent, ordinary;
    bool inside = false;                   // the worker's
    std::size_t next_victim = 0;           // the worker's
    std::atomic<bool> seen_inside{false};  // the same, for the others
    std::atomic<std::uint64_t> turn{0};    // odd while a body runs; what follows then describes it
    std::atomic<std::uint64_t> id{0};
    std::atomic<const CodeletInfo*> codelet{nullptr};
    std::atomic<const char*> file{nullptr};
    std::atomic<std::uint32_t> line{0}, data_count{0};
    std::array<std::atomic<DatumId>, inline_accesses> data{};
    std::atomic<std::uint64_t> tasks{0};
    std::atomic<std::int64_t> busy{0};

    std::size_t queued() const noexcept { return urgent.size() + ordinary.size(); }
  };
  Own& own(std::size_t worker) noexcept { return threads_[worker]; }
  /// Only who is inside takes what it keeps, or gives it up as it leaves: see take_kept().
  bool put_into(LaneQueue& queue, std::size_t thread, LazyTask& task) noexcept {
    const bool alone = alone_ && thread == 0;
    if (own(thread).inside) [[likely]]
      return queue.put_or_keep(task, alone);
    return alone ? queue.put_alone(task) : queue.put(task);
  }
  void look_at_all() noexcept;
  LazyTask* steal(std::size_t worker, LaneQueue Own::*from, std::size_t least) noexcept;

  std::vector<Own> threads_;
  const bool alone_;        // there is one worker: nobody steals from it
  std::uint32_t last_ = 0;  // generation
  // Where nobody has put anything yet nobody looks. Sequentially consistent, and said before the task is put: as
  // with the queue itself, whoever falls asleep sees it, or is seen.
  std::atomic<std::size_t> looked_at_;  // threads
  std::atomic<bool> some_urgent_{false};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
};

}  // namespace fairlead::engine
