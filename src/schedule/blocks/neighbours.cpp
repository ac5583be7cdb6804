// Every question is asked often, so it ends at the first neighbour that decides it.
#include "schedule/blocks/neighbours.hpp"

#include <algorithm>

namespace fairlead::schedule::blocks {

bool Neighbours::must_come_from_home(DatumId datum, const NodePlan& own) const {
  if (view_->residency(datum, own.id()) != ReplicaState::absent) return false;
  return std::ranges::none_of(own.neighbours, [&](std::size_t place) {
    const ReplicaState state = view_->residency(datum, (*nodes_)[place].id());
    return state == ReplicaState::valid || state == ReplicaState::leaving;
  });
}

bool Neighbours::on_its_way_to_one(DatumId datum, const NodePlan& own) const {
  if (own.neighbours.empty() || view_->residency(datum, own.id()) != ReplicaState::absent) return false;
  bool arriving = false;
  for (const std::size_t place : own.neighbours) {
    const ReplicaState state = view_->residency(datum, (*nodes_)[place].id());
    if (state == ReplicaState::valid || state == ReplicaState::leaving) return false;
    arriving = arriving || state == ReplicaState::arriving;
  }
  return arriving;
}

Position Neighbours::next_use_from_here(DatumId datum, const NodePlan& own, const std::vector<bool>& over) {
  Position next = never;
  for (const std::size_t place : own.neighbours) {
    NodePlan& neighbour = (*nodes_)[place];
    const ReplicaState state = view_->residency(datum, neighbour.id());
    if (state == ReplicaState::valid || state == ReplicaState::arriving) return never;
    next = std::min(next, neighbour.next_use(datum, over));
  }
  return next;
}

}  // namespace fairlead::schedule::blocks
