// On which memory node the updates of a tile run. Where tiles have coordinates, they are dealt out cyclically
// in two dimensions over a grid of nodes: each node then streams the inputs of some rows and some columns
// only, at about the same time as its neighbours in the grid, so that they get them from each other.
#pragma once
#include <cstddef>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::blocks {

class Owners {
 public:
  /// The accelerators have all tiles; where there are none, all nodes.
  void attach(const View& view);

  /// The nodes that have tiles, as places in View::nodes().
  const std::vector<std::size_t>& places() const noexcept { return places_; }
  /// On how many nodes an input is used, if its row and its column of tiles are updated everywhere.
  std::size_t readers() const noexcept { return rows_ + columns_ - 1; }
  /// The place of the tile's node. `held`, by place: bytes of the tiles that each node has in plans.
  std::size_t choose(DatumId tile, const std::vector<Bytes>& held) const;
  /// None of its workers is left.
  void lost(std::size_t place);

 private:
  void form_grid();

  const View* view_ = nullptr;
  std::vector<std::size_t> all_, places_;
  std::size_t rows_ = 1, columns_ = 1;  // of the grid
};

}  // namespace fairlead::schedule::blocks
