// What the plan says of one memory node: which tasks wait for its workers, how much of it planned tiles hold,
// and when it uses a datum next.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::blocks {

using Position = std::uint64_t;  // in the plan: when a task is to run
inline constexpr Position never = ~Position{0};

class NodePlan {
 public:
  NodePlan(NodeId id, Bytes capacity) : id_(id), capacity_(capacity) {}

  std::map<Position, Task*> ready;      ///< in the order in which they are to run
  std::vector<WorkerId> workers;        ///< those that are left
  std::size_t streams = 1;              ///< of an accelerator, which compute at the same time
  std::vector<std::size_t> neighbours;  ///< places of nodes with tiles that have a wire of their own to here

  bool all_used = false;              ///< the plan uses all that is here, as far as asked since a task ended
  Position lacks_nothing_before = 0;  ///< of ready tasks: those before have what they read, or it comes

  NodeId id() const noexcept { return id_; }
  /// For tiles of the plan: inputs stream past them, a line of them and two for each task that runs at the same time: its
  /// own, and the next one's. Half of the memory at most where that is much.
  Bytes room(Bytes tile) const noexcept;
  Bytes held() const noexcept { return held_; }

  /// The tile has an update more to come here, or one less.
  void hold(Bytes bytes) noexcept { held_ += bytes; }
  void let_go(Bytes bytes) noexcept { held_ -= bytes; }

  /// A task that will run here at that position, after all that were told before, uses the datum.
  void will_use(DatumId datum, Position position);
  void removed(DatumId datum) {
    if (index(datum) < uses_.size()) uses_[index(datum)] = {};
  }
  /// `over`, by position: what has run.
  Position next_use(DatumId datum, const std::vector<bool>& over);

 private:
  /// When the plan uses a datum.
  struct Uses {
    std::vector<Position> at;  // increasing; those before `next` are over
    std::size_t next = 0;
  };
  NodeId id_;
  Bytes capacity_;
  Bytes held_ = 0;          // tiles with updates to come
  std::vector<Uses> uses_;  // by datum
};

}  // namespace fairlead::schedule::blocks
