// The plan of one memory node: the tasks that wait for its workers, the bytes that planned tiles hold, and the next use
// of each datum.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::blocks {

using Position = std::uint64_t;  // position of a task in the plan
inline constexpr Position never = ~Position{0};

class NodePlan {
 public:
  NodePlan(NodeId id, Bytes capacity) : id_(id), capacity_(capacity) {}

  std::map<Position, Task*> ready;  ///< in plan order
  std::vector<WorkerId> workers;    ///< workers that are not lost
  std::size_t streams = 1;          ///< concurrent streams of an accelerator
  /// Positions of nodes that own tiles and have a direct link to this one.
  std::vector<std::size_t> neighbours;

  bool no_unplanned_data = false;  ///< the plan uses all data present here, as of the last finished task
  /// Ready tasks before this position lack no inputs, or these are arriving.
  Position complete_before = 0;

  NodeId id() const noexcept { return id_; }
  /// Bytes available for planned tiles. The rest is for inputs, which stream past them: one line of tiles, plus two
  /// tiles for each concurrent task, one for itself and one for the next task. The extra is limited to half of the
  /// memory.
  Bytes tile_capacity(Bytes tile) const noexcept;
  Bytes held() const noexcept { return held_; }

  /// Counts or releases the bytes of a tile with planned updates.
  void reserve(Bytes bytes) noexcept { held_ += bytes; }
  void release(Bytes bytes) noexcept { held_ -= bytes; }

  /// The task at that position uses the datum; positions must increase.
  void add_use(DatumId datum, Position position);
  void removed(DatumId datum) {
    if (index(datum) < uses_.size()) uses_[index(datum)] = {};
  }
  /// `over`, by position: the task has finished.
  Position next_use(DatumId datum, const std::vector<bool>& over);

 private:
  /// The planned uses of a datum.
  struct Uses {
    std::vector<Position> at;  // increasing; those before `next` have finished
    std::size_t next = 0;
  };
  NodeId id_;
  Bytes capacity_;
  Bytes held_ = 0;          // bytes of tiles with unfinished updates
  std::vector<Uses> uses_;  // by datum
};

}  // namespace fairlead::schedule::blocks
