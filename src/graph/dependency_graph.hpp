// The task graph, built while the program submits tasks and reduced as they finish. Dependencies follow from the order
// of submission and the access modes. One thread inserts; any thread completes, without locks. The graph makes no
// callbacks. docs/how-it-works.md describes the protocol and why it is correct.
#pragma once
#include <span>
#include <utility>

#include "base/event_chain.hpp"
#include "data/task.hpp"
#include "data/task_source.hpp"
#include "graph/epoch.hpp"
#include "graph/pool.hpp"

namespace fairlead {

/// Unused descriptors that a thread has not returned to the pools yet. Each thread that completes tasks has one.
class Recycler {
 public:
  /// `thread`: the number of the thread that uses it; 0 is the application's.
  Recycler(graph::Pool<Task>& tasks, graph::Pool<graph::Epoch>& epochs, std::size_t thread = 0) noexcept
      : tasks_(&tasks), epochs_(&epochs), thread_(thread) {}
  Recycler(const Recycler&) = delete;
  Recycler& operator=(const Recycler&) = delete;
  ~Recycler() {
    flush();
    while (spare_ != nullptr) {
      Task* const next = graph::PoolLink<Task>::get(*spare_);
      task_chain_.push(std::exchange(spare_, next));
    }
    flush();
  }

  std::size_t thread() const noexcept { return thread_; }

  /// An unused descriptor for this thread: one that it has emptied itself, or one from the pool.
  Task& take() {
    Task*& from = task_chain_.first != nullptr ? task_chain_.first : spare_;
    if (from == nullptr) spare_ = tasks_->take_many();
    Task& task = *from;
    from = graph::PoolLink<Task>::get(task);
    if (&from == &task_chain_.first && --task_chain_.size == 0) task_chain_ = {};
    return task;
  }

  void recycle(graph::Epoch& epoch) noexcept {
    epoch_chain_.push(&epoch);
    if (epoch_chain_.size >= batch) epochs_->give_back(epoch_chain_);
  }
  /// Frees the task's memory outside its descriptor and reuses the descriptor. No thread may use the task any more, and
  /// its closure must be destroyed.
  void recycle(Task& task) noexcept;
  void flush() noexcept {
    tasks_->give_back(task_chain_);
    epochs_->give_back(epoch_chain_);
  }

 private:
  static constexpr std::size_t batch = 64;
  graph::Pool<Task>* tasks_;
  graph::Pool<graph::Epoch>* epochs_;
  std::size_t thread_;
  graph::PoolChain<Task> task_chain_;
  graph::PoolChain<graph::Epoch> epoch_chain_;
  Task* spare_ = nullptr;  // taken from the pool, linked
};

namespace graph {

/// The graph's data per datum: its last epoch, and its address. Used by the submitting thread only.
struct DatumState {
  Epoch* last = nullptr;
  void* address = nullptr;  ///< for tasks of the fast path, in its generation `fast_path`
  std::uint32_t fast_path = 0;
  bool packed = false;  ///< as Access::is_packed_copy
};

/// One access of a task that is about to be submitted.
struct Insertion {
  Insertion() noexcept {}  // not initialized: an array of them is made for each task, and few are used
  Insertion(DatumState* of, DatumId id, AccessMode how, std::uint8_t how_many = 0) noexcept
      : tail(of), datum(id), mode(how), partials(how_many) {}

  DatumState* tail;
  DatumId datum;
  AccessMode mode;
  std::uint8_t partials;  ///< Access::partials
};

/// The combined mode of two accesses of one task to the same datum. They must be merged, or the task would wait for
/// itself.
AccessMode merged(AccessMode first, AccessMode second) noexcept;

class DependencyGraph {
 public:
  DependencyGraph() = default;
  /// Frees memory of unfinished tasks, which remain if the run was stopped.
  ~DependencyGraph();
  DependencyGraph(const DependencyGraph&) = delete;
  DependencyGraph& operator=(const DependencyGraph&) = delete;

  /// A descriptor for a task with `access_count` accesses; these and the closure are not filled in.
  Task* make_task(std::size_t access_count, const TaskTraits& traits = {});
  /// Prepares a descriptor that the caller owns, with the caller's array of accesses.
  void prepare(Task& task, Access* accesses, std::size_t access_count,
               const TaskTraits& traits = {}) noexcept;
  /// Reserves ids for descriptors that are made elsewhere; returns the first.
  std::uint64_t take_ids(std::size_t count) noexcept { return std::exchange(next_id_, next_id_ + count); }
  /// The id of the next descriptor.
  TaskId next_id() const noexcept { return static_cast<TaskId>(next_id_); }
  /// Recycles a descriptor that was never inserted.
  void discard(Task& task) noexcept;

  /// Inserts the task after all tasks inserted before; its data must be distinct. Returns true if the task is ready at
  /// once; then it is not reported again. `held_back`: extra decrements of `wait` that must happen before the task is
  /// ready.
  bool insert(Task& task, std::span<const Insertion> accesses, std::int32_t held_back = 0);

  /// Ends the task's accesses; appends the tasks that became ready to `ready`, in order of submission per datum.
  static void complete(Task& task, EventChain& ready, Recycler& recycler);

  /// A task that waits for this access, or null. For messages: only for the submitting thread, while no task can
  /// finish.
  static const Task* waiting_behind(const Access& unfinished) noexcept;

  /// Releases the graph's data of a datum all of whose accesses are finished.
  void forget(DatumState& tail, Recycler& recycler);

  Pool<Task>& tasks() noexcept { return tasks_; }
  Pool<Epoch>& epochs() noexcept { return epochs_; }

 private:
  Pool<Task> tasks_;
  Pool<Epoch> epochs_;
  std::uint64_t next_id_ = 0;
};

}  // namespace graph
}  // namespace fairlead
