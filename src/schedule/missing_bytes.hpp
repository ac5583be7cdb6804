// How many bytes each queued task misses on one node, kept up to date by what comes and goes there instead of
// asked of every task: View::missing_bytes of all of them, at the cost of those that changed.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/view.hpp"
#include "schedule/assigned_queue.hpp"

namespace fairlead::schedule {

class MissingBytes {
 public:
  MissingBytes(const View& view, NodeId node) : view_(&view), node_(node) {}

  /// A task begins to wait for a worker of the node: sets its `missing`. Call before AssignedQueue::insert.
  void enter(Queued& queued, AssignedQueue& queue);
  /// It does not wait any more. Call after AssignedQueue::erase.
  void leave(Queued& queued);

  /// The datum may have come to the node or left it. Looked into when somebody asks.
  void touched(DatumId datum);
  /// How many tasks update() would have to change.
  std::size_t outdated();
  /// Makes `missing` of all tasks what View::missing_bytes says.
  void update();

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
  bool present(DatumId datum) const { return view_->residency(datum, node_) != ReplicaState::absent; }

  const View* view_;
  NodeId node_;
  std::vector<Datum> data_;  // by id
  std::vector<DatumId> touched_;
};

}  // namespace fairlead::schedule
