// Puts a ready task into the list of a memory node: asks the affinity that is set, or the one that has been
// steadiest so far. Bramas 2019, "Task insertion in the grid with locality evaluation (push)".
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "policy/view.hpp"
#include "schedule/heteroprio/grid.hpp"
#include "schedule/heteroprio/settings.hpp"

namespace fairlead::schedule::heteroprio {

class Placement {
 public:
  Placement(const View& view, const Locality& locality) : view_(&view), locality_(locality) {}

  /// Its column. Writes down what popped() will want to know.
  Column pushed(Waiting& waiting, std::optional<Column> pusher);
  /// `popper`: the node of the worker that takes it.
  void popped(const Waiting& waiting, Column popper);

  const BestNodeDifference& differences() const noexcept { return differences_; }

 private:
  Column columns() const { return static_cast<Column>(view_->nodes().size()); }
  void look_at(const Task& task);
  Columns best(const Task& task, Affinity affinity, std::optional<Column> pusher);

  const View* view_;
  Locality locality_;
  BestNodeDifference differences_;
  std::vector<Use> uses_;         // of the task that was looked at
  std::vector<Duration> moving_;  // likewise
};

}  // namespace fairlead::schedule::heteroprio
