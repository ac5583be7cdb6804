// The graph of tasks, built while the program submits them and taken apart while they finish. Who may run
// follows from the order of submission and the access modes alone. Insertion is one thread's; completion is
// any thread's, without locks; the graph calls nobody (docs/concepts.md has the protocol and why it is
// right).
#pragma once
#include <span>

#include "base/event_chain.hpp"
#include "data/task.hpp"
#include "data/task_source.hpp"
#include "graph/epoch.hpp"
#include "graph/pool.hpp"

namespace fairlead {

/// Emptied descriptors that one thread has not handed back yet. Each thread that completes tasks has one.
class Recycler {
 public:
  Recycler(graph::Pool<Task>& tasks, graph::Pool<graph::Epoch>& epochs) noexcept
      : tasks_(&tasks), epochs_(&epochs) {}
  Recycler(const Recycler&) = delete;
  Recycler& operator=(const Recycler&) = delete;
  ~Recycler() { flush(); }

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
  graph::PoolChain<Task> task_chain_;
  graph::PoolChain<graph::Epoch> epoch_chain_;
};

namespace graph {

/// The graph's share of a datum: its last epoch. The submitting thread's.
struct DatumTail {
  Epoch* last = nullptr;
};

/// One access of a task that is about to be submitted.
struct Insertion {
  DatumTail* tail;
  DatumId datum;
  AccessMode mode;
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

  /// An empty descriptor with room for `access_count` accesses.
  Task* make_task(std::size_t access_count);
  /// Gives back a descriptor that was made and never inserted.
  void discard(Task& task) noexcept;

  /// Puts the task, whose data must all differ, behind what was inserted before. True if it is ready at once:
  /// then nobody else will say so.
  bool insert(Task& task, std::span<const Insertion> accesses);

  /// Ends the task's accesses; appends the tasks that became ready, in order of submission per datum, to
  /// `ready`.
  static void complete(Task& task, EventChain& ready, Recycler& recycler);

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
