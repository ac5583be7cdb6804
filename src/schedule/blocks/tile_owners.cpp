// The grid is as square as the number of nodes allows, and at least as high as wide: the last updates of a column of
// tiles are on the critical path, so each column is spread over as many nodes as possible.
#include "schedule/blocks/tile_owners.hpp"

#include <algorithm>

namespace fairlead::schedule::blocks {

void TileOwners::attach(const View& view) {
  view_ = &view;
  const auto nodes = view.nodes();
  for (const NodeId id : accelerators(view))
    places_.push_back(static_cast<std::size_t>(std::ranges::find(nodes, id, &NodeInfo::id) - nodes.begin()));
  for (std::size_t place = 0; place < nodes.size(); ++place) all_.push_back(place);
  if (places_.empty()) places_ = all_;
  form_grid();
}

void TileOwners::form_grid() {
  columns_ = 1;
  for (std::size_t columns = 2; columns * columns <= places_.size(); ++columns)
    if (places_.size() % columns == 0) columns_ = columns;
  rows_ = std::max<std::size_t>(1, places_.size() / columns_);
}

std::size_t TileOwners::choose(DatumId tile, const std::vector<Bytes>& held) const {
  if (places_.empty()) return 0;
  if (places_.size() == 1) return places_.front();
  const View::Coordinates at = view_->coordinates(tile);
  if (at.row < 0 || at.column < 0)
    return *std::ranges::min_element(places_, {}, [&](std::size_t place) { return held[place]; });
  // Consecutive nodes, which often have the best links, share a column.
  return places_[static_cast<std::size_t>(at.column) % columns_ * rows_ +
                 static_cast<std::size_t>(at.row) % rows_];
}

void TileOwners::lost(std::size_t place) {
  if (all_.size() == 1) return;  // the tiles stay, for workers that join later
  std::erase(all_, place);
  std::erase(places_, place);
  if (places_.empty()) places_ = all_;
  form_grid();
}

}  // namespace fairlead::schedule::blocks
