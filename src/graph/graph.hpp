// The graph of tasks, built while the program submits them and taken apart while they finish. Who may run
// follows from the order of submission and the access modes alone. Insertion is one thread's; completion is
// any thread's, without locks; the graph calls nobody (docs/how-it-works.md has the protocol and why it is
// right).
#pragma once
#include <span>
#include <utility>

#include "base/event_chain.hpp"
#include "data/task.hpp"
#include "data/task_source.hpp"
#include "graph/epoch.hpp"
#include "graph/pool.hpp"

namespace fairlead {

/// Emptied descriptors that one thread has not handed back yet. Each thread that completes tasks has one.
class Recycler {
 public:
  /// `thread`: whose it is; they are numbered from 0, and the application's is that.
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

  /// A descriptor for this thread to fill in: one that it has emptied, or that others have.
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
  /// The task is over for everybody; its closure is destroyed already. Frees what it holds beside its
  /// descriptor.
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

/// The graph's share of a datum: its last epoch, and where it stays. The submitting thread's.
struct DatumTail {
  Epoch* last = nullptr;
  void* address = nullptr;  ///< for tasks of the direct lane, in the generation `lane`
  std::uint32_t lane = 0;
  bool packed = false;  ///< as Access::packed
};

/// One access of a task that is about to be submitted.
struct Insertion {
  Insertion() noexcept {}  // nothing is written: arrays of them are made for each task, and hardly filled
  Insertion(DatumTail* of, DatumId id, AccessMode how, std::uint8_t how_many = 0) noexcept
      : tail(of), datum(id), mode(how), partials(how_many) {}

  DatumTail* tail;
  DatumId datum;
  AccessMode mode;
  std::uint8_t partials;  ///< Access::partials
};

/// The strongest of two accesses of one task to the same datum: merged, or the task would wait for itself.
AccessMode merged(AccessMode first, AccessMode second) noexcept;

class Graph {
 public:
  Graph() = default;
  /// Frees what tasks hold that never ended: a run that was stopped leaves some.
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// A descriptor with room for `access_count` accesses; they and the closure are empty.
  Task* make_task(std::size_t access_count, const TaskTraits& traits = {});
  /// The same for a descriptor that is not the graph's, with room for accesses of its own.
  void prepare(Task& task, Access* accesses, std::size_t access_count,
               const TaskTraits& traits = {}) noexcept;
  /// Names for so many descriptors that are not made here; the first of them.
  std::uint64_t take_ids(std::size_t count) noexcept { return std::exchange(next_id_, next_id_ + count); }
  /// What the next descriptor will be called.
  TaskId next_id() const noexcept { return static_cast<TaskId>(next_id_); }
  /// Gives back a descriptor that was made and never inserted.
  void discard(Task& task) noexcept;

  /// Puts the task, whose data must all differ, behind what was inserted before. True if it is ready at once:
  /// then nobody else will say so. `held_back`: it becomes ready only when its `wait` has been lowered by so
  /// many besides.
  bool insert(Task& task, std::span<const Insertion> accesses, std::int32_t held_back = 0);

  /// Ends the task's accesses; appends the tasks that became ready, in order of submission per datum, to
  /// `ready`.
  static void complete(Task& task, EventChain& ready, Recycler& recycler);

  /// A task that waits until this access is finished, or null. For messages: the submitter's, and only while
  /// no task can finish.
  static const Task* waiting_behind(const Access& unfinished) noexcept;

  /// Forgets a datum all of whose accesses are finished.
  void forget(DatumTail& tail, Recycler& recycler);

  Pool<Task>& tasks() noexcept { return tasks_; }
  Pool<Epoch>& epochs() noexcept { return epochs_; }

 private:
  Pool<Task> tasks_;
  Pool<Epoch> epochs_;
  std::uint64_t next_id_ = 0;
};

}  // namespace graph
}  // namespace fairlead
