// How many bytes each queued task misses on one node, kept up to date by what comes and goes there instead of
// asked of every task: View::missing_bytes of all of them, at the cost of those that changed. Where that
// would cost more than to look through a queue, since a datum that most tasks read has come or gone, the
// queue is looked through, until that has cost as much.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/assigned_queue.hpp"

namespace fairlead::schedule {

class MissingBytes {
 public:
  MissingBytes(const View& view, NodeId node) : view_(&view), node_(node) {}

  /// A task begins to wait for a worker of the node: sets its `missing`. Call before AssignedQueue::insert.
  void enter(Queued& queued, AssignedQueue& queue);
  /// It does not wait any more. Call after AssignedQueue::erase.
  void leave(Queued& queued);

  /// The datum may have come to the node or left it. Looked into when somebody asks.
  void touched(DatumId id);
  /// Of the tasks in a queue of the node that satisfy the condition: see AssignedQueue::Nearest. Null if none
  /// does.
  template <class Condition>
  Queued* nearest(const AssignedQueue& queue, Condition&& condition) {
    const std::size_t outdated_tasks = outdated();
    if (outdated_tasks > queue.size() / 2 + 32 && looked_through_ < outdated_tasks) {
      looked_through_ += queue.size();
      return look_through(queue, condition);
    }
    looked_through_ = 0;
    if (outdated_tasks > 0) update();
    return queue.nearest(condition);
  }

 private:
  struct Reader {
    Queued* queued;
    AssignedQueue* queue;
    std::uint32_t generation;
    bool gone() const noexcept { return queued->generation != generation; }
  };
  struct Datum {
    std::vector<Reader> readers;  // and some that are gone
    std::uint32_t waiting = 0;    // of them
    Bytes bytes = 0;
    bool present = false;  // as `missing` of the readers counts it
    bool touched = false;  // among those that may have changed
  };
  /// How many tasks update() would have to change.
  std::size_t outdated();
  /// Makes `missing` of all tasks what View::missing_bytes says.
  void update();
  template <class Condition>
  Queued* look_through(const AssignedQueue& queue, Condition&& condition) const {
    Queued* best = nullptr;
    Bytes least = 0;
    queue.for_each_while([&](Queued& queued) {
      if (!condition(*queued.task)) return true;
      if (queue.first_priority_only() && best != nullptr && queued.priority != best->priority) return false;
      const Bytes missing = view_->missing_bytes(*queued.task, node_);
      if (best == nullptr || missing < least) {
        best = &queued;
        least = missing;
      }
      return least > 0;
    });
    return best;
  }
  bool present(DatumId datum) const { return view_->residency(datum, node_) != ReplicaState::absent; }

  const View* view_;
  NodeId node_;
  std::vector<Datum> data_;  // by id
  std::vector<DatumId> touched_;
  std::size_t looked_through_ = 0;  // tasks, since `missing` was up to date
};

}  // namespace fairlead::schedule
