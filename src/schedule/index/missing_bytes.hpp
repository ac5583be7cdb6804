// The bytes that each queued task misses on one node: View::missing_bytes, updated incrementally at the cost of the
// changed data. An update is expensive if a datum that most tasks read has arrived or left. The queue is scanned
// instead, until the scans have cost as much as the update.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/assigned_queue.hpp"

namespace fairlead::schedule {

class MissingBytes {
 public:
  MissingBytes(const View& view, NodeId node) : view_(&view), node_(node) {}

  /// A task starts to wait for a worker of the node: sets its `missing`. Call before AssignedQueue::insert.
  void enter(Queued& queued, AssignedQueue& queue);
  /// The task no longer waits. Call after AssignedQueue::erase.
  void leave(Queued& queued);

  /// The datum may have arrived at the node or left it. Evaluated at the next query.
  void residency_changed(DatumId id);
  /// The best task of a queue of the node that satisfies the condition, by AssignedQueue::LeastMissing; null if none does.
  template <class Condition>
  Queued* least_missing(const AssignedQueue& queue, Condition&& condition) {
    const std::size_t outdated_tasks = outdated();
    if (outdated_tasks > queue.size() / 2 + 32 && scanned_ < outdated_tasks) {
      scanned_ += queue.size();
      return scan(queue, condition);
    }
    scanned_ = 0;
    if (outdated_tasks > 0) update();
    return queue.least_missing(condition);
  }

 private:
  struct Reader {
    Queued* queued;
    AssignedQueue* queue;
    std::uint32_t generation;
    bool gone() const noexcept { return queued->generation != generation; }
  };
  struct Datum {
    std::vector<Reader> readers;  // including some stale ones
    std::uint32_t waiting = 0;    // readers that are not stale
    Bytes bytes = 0;
    bool present = false;  // as counted in `missing` of the readers
    bool touched = false;  // in touched_
  };
  /// The number of tasks that update() would have to change.
  std::size_t outdated();
  /// Sets `missing` of all tasks to the value of View::missing_bytes.
  void update();
  template <class Condition>
  Queued* scan(const AssignedQueue& queue, Condition&& condition) const {
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
  std::size_t scanned_ = 0;  // tasks scanned since `missing` was up to date
};

}  // namespace fairlead::schedule
