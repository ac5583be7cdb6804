// Called often, so each search stops at the first neighbour that decides it.
#include "schedule/blocks/neighbours.hpp"

#include <algorithm>

namespace fairlead::schedule::blocks {

bool Neighbours::has_no_neighbour_copy(DatumId datum, const NodePlan& own) const {
  if (view_->residency(datum, own.id()) != ReplicaState::absent) return false;
  return std::ranges::none_of(own.neighbours, [&](std::size_t place) {
    const ReplicaState state = view_->residency(datum, (*nodes_)[place].id());
    return state == ReplicaState::valid || state == ReplicaState::evicting;
  });
}

bool Neighbours::is_arriving_at_neighbour(DatumId datum, const NodePlan& own) const {
  if (own.neighbours.empty() || view_->residency(datum, own.id()) != ReplicaState::absent) return false;
  bool arriving = false;
  for (const std::size_t place : own.neighbours) {
    const ReplicaState state = view_->residency(datum, (*nodes_)[place].id());
    if (state == ReplicaState::valid || state == ReplicaState::evicting) return false;
    arriving = arriving || state == ReplicaState::in_flight;
  }
  return arriving;
}

Position Neighbours::next_neighbour_use(DatumId datum, const NodePlan& own, const std::vector<bool>& over) {
  Position next = never;
  for (const std::size_t place : own.neighbours) {
    NodePlan& neighbour = (*nodes_)[place];
    const ReplicaState state = view_->residency(datum, neighbour.id());
    if (state == ReplicaState::valid || state == ReplicaState::in_flight) return never;
    next = std::min(next, neighbour.next_use(datum, over));
  }
  return next;
}

}  // namespace fairlead::schedule::blocks
