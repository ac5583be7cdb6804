// A place for every datum that follows from its coordinates: the tiles of a matrix, row by row, go in equal
// contiguous parts to the workers, and a task goes with the datum that it writes. Augonnet et al. 2010,
// section V.B.1: "a trivial static allocation" of a stencil's 64 blocks along one axis. More the paper does
// not say.
//
// Decided here: accelerators share the tiles, or cores where no accelerator can run the task. (Durations
// would be a better reason to prefer a kind; but they are learned, and while they change nothing is static.)
// A task that writes nothing goes with the first datum that it reads. Data without coordinates are dealt out
// one by one, as tasks come to need a place for them. When a worker is lost, all is divided anew among those
// that remain.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule {

class StaticPlacement {
 public:
  /// Which tasks it binds.
  enum class Bound : std::uint8_t { nothing, first_writes, everything };

  explicit StaticPlacement(Bound bound) : bound_(bound) {}
  void attach(const View& view) { view_ = &view; }

  /// Of the workers for which `usable(worker)` holds, that to which the task goes; none if it is not bound,
  /// or there is no such worker. first_writes: bound is a task that writes a datum that nobody wrote before,
  /// also when it is asked for again.
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
    return sharing[part_of(access->datum, sharing.size())];
  }
  /// The id of the datum may be another one's now.
  void removed(DatumId datum) {
    if (index(datum) < first_writers_.size()) first_writers_[index(datum)] = no_id<TaskId>;
  }

 private:
  /// The first access that writes; failing that, the first; null if there is none.
  static const Access* leading_access(const Task& task) noexcept;
  bool writes_first(const Task& task, const Access& access);
  std::size_t part_of(DatumId datum, std::size_t parts);

  Bound bound_;
  const View* view_ = nullptr;
  std::vector<TaskId> first_writers_;  // by datum
  std::vector<std::size_t> dealt_;     // by datum without coordinates: its turn, from 1 on; 0: not yet
  std::size_t dealt_so_far_ = 0;
  std::vector<WorkerId> accelerators_, cores_;  // scratch
};

}  // namespace fairlead::schedule
