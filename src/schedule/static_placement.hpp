// A fixed place for every datum, derived from its coordinates: the tiles of a matrix, row by row, go in equal
// contiguous parts to the workers, and a task runs where the datum that it writes is placed. Augonnet et al. 2010,
// section V.B.1: "a trivial static allocation" of a stencil's 64 blocks along one axis. The paper gives no more
// details.
//
// Where the paper is silent: accelerators share the tiles, or cores if no accelerator can run the task. (Durations
// would be a better criterion, but they are learned, and placement would change while they do.) A task that writes
// nothing is placed by the first datum that it reads. Data without coordinates are distributed round robin, in the
// order in which tasks first need a place for them. When a worker is lost, the tiles are divided again among the
// remaining workers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule {

class StaticPlacement {
 public:
  /// Which tasks are bound to a worker.
  enum class Bound : std::uint8_t { nothing, first_writes, everything };

  explicit StaticPlacement(Bound bound) : bound_(bound) {}
  void attach(const View& view) { view_ = &view; }

  /// The worker to which the task is bound, among those for which `usable(worker)` holds; none if the task is not bound
  /// or there is no such worker. With first_writes, a task is bound if it is the first to write its datum, also in
  /// later calls for it.
  template <class Usable>
  std::optional<WorkerId> worker_for(const Task& task, Usable&& usable) {
    if (bound_ == Bound::nothing) return std::nullopt;
    const Access* const access = leading_access(task);
    if (access == nullptr || (bound_ == Bound::first_writes && !writes_first(task, *access)))
      return std::nullopt;
    accelerators_.clear();
    cores_.clear();
    for (const WorkerInfo& worker : view_->workers())
      if (usable(worker.id)) (worker.kind == WorkerKind::cpu ? cores_ : accelerators_).push_back(worker.id);
    const std::vector<WorkerId>& sharing = accelerators_.empty() ? cores_ : accelerators_;
    if (sharing.empty()) return std::nullopt;
    return sharing[block_index(access->datum, sharing.size())];
  }
  /// Forgets the datum, whose id may be reused.
  void removed(DatumId datum) {
    if (index(datum) < first_writers_.size()) first_writers_[index(datum)] = no_id<TaskId>;
  }

 private:
  /// The first access that writes, else the first access; null if there is none.
  static const Access* leading_access(const Task& task) noexcept;
  bool writes_first(const Task& task, const Access& access);
  std::size_t block_index(DatumId datum, std::size_t parts);

  Bound bound_;
  const View* view_ = nullptr;
  std::vector<TaskId> first_writers_;  // by datum
  // By datum without coordinates: its position in the round robin, from 1; 0: none yet.
  std::vector<std::size_t> round_robin_index_;
  std::size_t assigned_count_ = 0;
  std::vector<WorkerId> accelerators_, cores_;  // scratch
};

}  // namespace fairlead::schedule
