// Collects the locations of a task's data and evaluates the affinities.
#include "schedule/heteroprio/affinity_placement.hpp"

namespace fairlead::schedule::heteroprio {

Column AffinityPlacement::on_push(QueuedTask& waiting, std::optional<Column> pusher) {
  if (locality_.affinity.has_value())
    return select_node(best(*waiting.task, *locality_.affinity, pusher), pusher);
  look_at(*waiting.task);
  waiting.best_columns = BestNodeDifference::best_nodes(uses_, columns(), pusher, locality_.theta);
  return waiting.best_columns[differences_.most_stable()];
}

void AffinityPlacement::on_pop(const QueuedTask& waiting, Column popper) {
  if (locality_.affinity.has_value()) return;
  look_at(*waiting.task);
  differences_.popped(waiting.best_columns,
                      BestNodeDifference::best_nodes(uses_, columns(), popper, locality_.theta));
}

Columns AffinityPlacement::best(const Task& task, Affinity affinity, std::optional<Column> pusher) {
  switch (affinity) {
    case Affinity::laru:
      return laru(pusher, columns());
    case Affinity::mc:
      moving_.assign(columns(), Duration{});
      for (Column m = 0; m < columns(); ++m)
        for (const Access& access : task.accesses())
          if (reads(access.mode)) moving_[m] += view_->transfer_time(access.datum, view_->nodes()[m].id);
      return mc(moving_);
    case Affinity::sdh:
      look_at(task);
      return sdh(uses_, columns());
    case Affinity::sdh2:
      look_at(task);
      return sdh2(uses_, columns());
    case Affinity::sdhb:
      look_at(task);
      return sdhb(uses_, columns(), locality_.theta);
    case Affinity::smwb:
      look_at(task);
      return smwb(uses_, columns());
  }
  return laru(pusher, columns());
}

/// Data in flight to a node count as present; data that are leaving do not.
void AffinityPlacement::look_at(const Task& task) {
  uses_.clear();
  const auto nodes = view_->nodes();
  for (const Access& access : task.accesses()) {
    DatumUse& use = uses_.emplace_back();
    use.bytes = view_->bytes(access.datum);
    use.written = writes(access.mode);
    for (Column m = 0; m < nodes.size(); ++m) {
      if (view_->has_newest(access.datum, nodes[m].id)) use.present |= Columns{1} << m;
    }
  }
}

}  // namespace fairlead::schedule::heteroprio
