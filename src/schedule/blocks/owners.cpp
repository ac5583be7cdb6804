// The grid is as square as the number of nodes allows.
#include "schedule/blocks/owners.hpp"

#include <algorithm>

namespace fairlead::schedule::blocks {

void Owners::attach(const View& view) {
  view_ = &view;
  node_count_ = view.nodes().size();
  grid_rows_ = 1;
  for (std::size_t rows = 2; rows * rows <= node_count_; ++rows)
    if (node_count_ % rows == 0) grid_rows_ = rows;
  grid_columns_ = std::max<std::size_t>(1, node_count_ / grid_rows_);
}

std::size_t Owners::choose(DatumId tile, const std::vector<Bytes>& held) const {
  if (node_count_ <= 1) return 0;
  const View::Coordinates at = view_->coordinates(tile);
  if (at.row < 0 || at.column < 0)
    return static_cast<std::size_t>(std::ranges::min_element(held) - held.begin());
  return static_cast<std::size_t>(at.row) % grid_rows_ * grid_columns_ +
         static_cast<std::size_t>(at.column) % grid_columns_;
}

}  // namespace fairlead::schedule::blocks
