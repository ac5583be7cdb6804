// Uses are stored in the order of the plan; finding the next one skips those that have finished.
#include "schedule/blocks/node_plan.hpp"

#include <algorithm>

namespace fairlead::schedule::blocks {
namespace {

/// Rounded down (Newton's method).
Bytes square_root(Bytes n) noexcept {
  Bytes root = n, next = n / 2 + n % 2;
  while (next < root) {
    root = next;
    next = (root + n / root) / 2;
  }
  return root;
}

}  // namespace

Bytes NodePlan::tile_capacity(Bytes tile) const noexcept {
  const Bytes tiles = capacity_ / tile, line = square_root(tiles);
  const Bytes inputs = std::max(line + 2, std::min<Bytes>(line + 2 * streams, tiles / 2));
  return capacity_ - std::min(capacity_, inputs * tile);
}

void NodePlan::add_use(DatumId datum, Position position) {
  if (index(datum) >= uses_.size()) uses_.resize(2 * index(datum) + 1);
  Uses& uses = uses_[index(datum)];
  if (uses.next > 32 && uses.next > uses.at.size() / 2) {
    uses.at.erase(uses.at.begin(), uses.at.begin() + static_cast<std::ptrdiff_t>(uses.next));
    uses.next = 0;
  }
  uses.at.push_back(position);
}

Position NodePlan::next_use(DatumId datum, const std::vector<bool>& over) {
  if (index(datum) >= uses_.size()) return never;
  Uses& uses = uses_[index(datum)];
  while (uses.next < uses.at.size() && over[uses.at[uses.next]]) ++uses.next;
  return uses.next == uses.at.size() ? never : uses.at[uses.next];
}

}  // namespace fairlead::schedule::blocks
