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
  void attach(const View& view) { view_ = &view; }

  /// The first access that writes; failing that, the first; null if there is none.
  static const Access* leading_access(const Task& task) noexcept;

  /// Of the workers for which `usable(worker)` holds, that to which the datum's tasks go; none if there is
  /// none.
  template <class Usable>
  std::optional<WorkerId> worker_for(DatumId datum, Usable&& usable) {
    accelerators_.clear();
    cores_.clear();
    for (const WorkerInfo& worker : view_->workers())
      if (usable(worker.id)) (worker.kind == WorkerKind::cpu ? cores_ : accelerators_).push_back(worker.id);
    const std::vector<WorkerId>& sharing = accelerators_.empty() ? cores_ : accelerators_;
    if (sharing.empty()) return std::nullopt;
    return sharing[part_of(datum, sharing.size())];
  }

 private:
  std::size_t part_of(DatumId datum, std::size_t parts);

  const View* view_ = nullptr;
  // by datum without coordinates: how many came before it, plus 1; 0: not yet
  std::vector<std::size_t> dealt_;
  std::size_t dealt_so_far_ = 0;
  std::vector<WorkerId> accelerators_, cores_;  // scratch
};

}  // namespace fairlead::schedule
