// Selects the memory node in whose list a ready task goes, by the affinity that is set or the one with the fewest
// changes so far. Bramas 2019, "Task insertion in the grid with locality evaluation (push)".
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "policy/view.hpp"
#include "schedule/heteroprio/settings.hpp"
#include "schedule/heteroprio/task_list_grid.hpp"

namespace fairlead::schedule::heteroprio {

class AffinityPlacement {
 public:
  AffinityPlacement(const View& view, const Locality& locality) : view_(&view), locality_(locality) {}

  /// The column for the task. Records in `waiting` what popped() needs.
  Column on_push(QueuedTask& waiting, std::optional<Column> pusher);
  /// `popper`: the node of the worker that takes the task.
  void on_pop(const QueuedTask& waiting, Column popper);

  const BestNodeDifference& differences() const noexcept { return differences_; }

 private:
  Column columns() const { return static_cast<Column>(view_->nodes().size()); }
  void look_at(const Task& task);
  Columns best(const Task& task, Affinity affinity, std::optional<Column> pusher);

  const View* view_;
  Locality locality_;
  BestNodeDifference differences_;
  std::vector<DatumUse> uses_;    // of the task in look_at()
  std::vector<Duration> moving_;  // by column: total transfer time
};

}  // namespace fairlead::schedule::heteroprio
