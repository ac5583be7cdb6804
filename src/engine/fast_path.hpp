// The fast path of the scheduler, open while all data fit in the one memory that all workers reach and the policy's
// order is one queue per worker. A ready task goes to the queue of the worker that released it, and from there to its
// body, without the engine's lock. docs/how-it-works.md explains how this stays consistent with the engine.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/stealing_queue.hpp"

namespace fairlead::engine {

/// The task that a worker executes in the fast path, for status reports.
struct RunningBody {
  TaskId id;
  const CodeletInfo* codelet;
  SubmitLine submitted_at;
  std::array<DatumId, inline_accesses> data;
  std::size_t data_count;  ///< the number of data; ids beyond the capacity of `data` are not stored
};

/// Whether the task asks for nothing that the fast path lacks: it runs tasks on any core, on data that stay in place,
/// at two levels of priority. Selection between implementations and asynchronous completion need the engine.
inline bool is_eligible_for_fast_path(const TaskTraits& task) noexcept {
  return task.priority >= 0 && task.scratch_bytes == 0 && task.nodes_excluded == 0 &&
         task.workers_wanted == 0 && !task.codelet->has_choice(WorkerKind::cpu) &&
         !task.codelet->for_kind(WorkerKind::cpu).asynchronous;
}

/// Whether the priority is above 0. The fast path takes such tasks first, oldest first. Finer priorities would need a
/// sorted queue, which thieves would have to lock.
inline bool is_urgent(const LazyTask& task) noexcept {
  return task.family->described ? static_cast<const Task&>(task).priority > 0 : task.family->urgent;
}

/// The fast path is open during a *generation*. A task and its data are admitted for one generation only. A worker that
/// takes a task from a queue first marks itself as inside, then reads the generation. So once the fast path is closed
/// and no worker is inside, no task runs in it, whatever is left in the queues.
class FastPath {
 public:
  /// `threads`: the threads that put tasks, each with a queue; the first are the workers.
  FastPath(std::size_t workers, std::size_t threads);

  /// The current generation; 0: closed. Any thread; sequentially consistent, see left().
  std::uint32_t generation() const noexcept { return generation_.load(); }
  bool admits(const Task& task) const noexcept {
    return task.fast_path_generation != 0 && task.fast_path_generation == generation();
  }

  // ---- under the engine's lock

  void open() noexcept { generation_.store(++last_); }
  /// Any thread, which must enter the engine afterwards.
  void close() noexcept { generation_.store(0); }
  /// Whether no task runs in the fast path, or will before it is opened again. Call it after close().
  bool is_drained() const noexcept;
  /// As left(), and the queues are empty. They are checked first: the worker that took the last task was inside before.
  bool is_quiescent() const noexcept { return !has_queued() && is_drained(); }

  // ---- one thread each; worker 0 is the application's thread

  /// Queues a ready task. Returns false if the task must go to the engine. The caller wakes a sleeping worker. Workers
  /// steal tasks of threads that are not workers.
  bool put(std::size_t thread, Task& task) noexcept {
    return admits(task) && put(thread, static_cast<LazyTask&>(task));
  }
  /// As above, for a task that the current generation admits, or admitted a moment ago.
  bool put(std::size_t thread, LazyTask& task) noexcept {
    if (thread >= scanned_queues_.load(std::memory_order_relaxed)) [[unlikely]]
      scan_all_queues();
    if (is_urgent(task)) [[unlikely]] {
      if (!some_urgent_.load(std::memory_order_relaxed)) some_urgent_.store(true);
      return put_into(own(thread).urgent, thread, task);
    }
    return put_into(own(thread).ordinary, thread, task);
  }

  // ---- the worker's own thread

  /// From now on the worker may run tasks, each only while lets_in() holds; until leave().
  void enter(std::size_t worker) noexcept {
    Slot& it = own(worker);
    if (it.inside) return;
    it.inside = true;
    it.seen_inside.store(true);  // sequentially consistent, see left()
  }
  bool inside(std::size_t worker) const noexcept { return threads_[worker].inside; }
  /// Takes a task from the worker's overflow lists, which no other thread sees. Call it before leave() until it returns
  /// null.
  LazyTask* take_kept(std::size_t worker) noexcept {
    LazyTask* const urgent = own(worker).urgent.take_kept();
    return urgent != nullptr ? urgent : own(worker).ordinary.take_kept();
  }
  /// Returns true if the caller must enter the engine: the fast path was closed, and the engine may wait for this
  /// worker.
  bool leave(std::size_t worker) noexcept {
    Slot& it = own(worker);
    if (!it.inside) return false;
    it.inside = false;
    it.seen_inside.store(false);
    return generation_.load() == 0;
  }
  /// The next task: of the worker's own queues; else half of another queue's urgent tasks; else half of the ordinary
  /// tasks of a queue with at least `least`. Inside only.
  LazyTask* take(std::size_t worker, std::size_t least = 1) noexcept;
  /// Whether there may be a task to take. Any thread.
  bool has_queued(std::size_t least = 1) const noexcept;
  bool something_queued_by(std::size_t thread) const noexcept { return threads_[thread].queued() != 0; }
  /// Whether the worker should run an urgent task of its queue before `task`.
  bool has_more_urgent(std::size_t worker, const LazyTask& task) const noexcept {
    return some_urgent_.load(std::memory_order_relaxed) && !threads_[worker].urgent.empty() &&
           !is_urgent(task);
  }
  std::size_t queued() const noexcept;

  /// Publish the running body and its end. Only the worker writes, so no locked instructions are needed.
  void begin_body(std::size_t worker, const Task& task) noexcept;
  void end_body(std::size_t worker) noexcept {
    auto& turn = own(worker).sequence;
    turn.store(turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void count(std::size_t worker, std::uint64_t tasks, Duration busy) noexcept {
    Slot& it = own(worker);
    it.tasks.store(it.tasks.load(std::memory_order_relaxed) + tasks, std::memory_order_relaxed);
    it.busy.store(it.busy.load(std::memory_order_relaxed) + busy.count(), std::memory_order_relaxed);
  }

  // ---- any thread

  /// The body that ran throughout this call; none if no body did.
  std::optional<RunningBody> body(std::size_t worker) const noexcept;
  std::uint64_t tasks(std::size_t worker) const noexcept {
    return threads_[worker].tasks.load(std::memory_order_relaxed);
  }
  std::uint64_t tasks() const noexcept;
  Duration busy(std::size_t worker) const noexcept {
    return Duration(threads_[worker].busy.load(std::memory_order_relaxed));
  }

 private:
  struct alignas(64) Slot {
    StealingQueue urgent, ordinary;
    bool inside = false;                     // used by the worker only
    std::size_t next_victim = 0;             // used by the worker only
    std::atomic<bool> seen_inside{false};    // the same, for other threads
    std::atomic<std::uint64_t> sequence{0};  // odd while a body runs; the fields below then describe it
    std::atomic<std::uint64_t> id{0};
    std::atomic<const CodeletInfo*> codelet{nullptr};
    std::atomic<const char*> file{nullptr};
    std::atomic<std::uint32_t> line{0}, data_count{0};
    std::array<std::atomic<DatumId>, inline_accesses> data{};
    std::atomic<std::uint64_t> tasks{0};
    std::atomic<std::int64_t> busy{0};

    std::size_t queued() const noexcept { return urgent.size() + ordinary.size(); }
  };
  Slot& own(std::size_t worker) noexcept { return threads_[worker]; }
  /// Only a worker inside takes tasks from its overflow list, and empties it when it leaves: see take_kept().
  bool put_into(StealingQueue& queue, std::size_t thread, LazyTask& task) noexcept {
    const bool alone = single_worker_ && thread == 0;
    if (own(thread).inside) [[likely]]
      return queue.put_or_overflow(task, alone);
    return alone ? queue.put_single_threaded(task) : queue.put(task);
  }
  void scan_all_queues() noexcept;
  LazyTask* steal(std::size_t worker, StealingQueue Slot::*from, std::size_t least) noexcept;

  std::vector<Slot> threads_;
  const bool single_worker_;  // there is one worker, so nothing is stolen
  std::uint32_t last_ = 0;    // the last generation
  // Thieves skip queues of threads that never put a task. Sequentially consistent, and stored before the task is put,
  // so that a worker about to sleep sees the task or is seen as asleep.
  std::atomic<std::size_t> scanned_queues_;  // in threads
  std::atomic<bool> some_urgent_{false};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
};

}  // namespace fairlead::engine
