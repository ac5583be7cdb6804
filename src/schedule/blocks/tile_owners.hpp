// The owner node of each tile: the memory node on which its updates run. Tiles with coordinates have a two-dimensional
// cyclic distribution over a grid of nodes. Each node then streams the inputs of only some rows and columns, at about
// the same time as its neighbours in the grid, so they can exchange them.
#pragma once
#include <cstddef>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::blocks {

class TileOwners {
 public:
  /// The accelerators own all tiles; without accelerators, all nodes do.
  void attach(const View& view);

  /// The nodes that own tiles, as positions in View::nodes().
  const std::vector<std::size_t>& places() const noexcept { return places_; }
  /// The number of nodes that use an input whose row and column of tiles are updated everywhere.
  std::size_t readers() const noexcept { return rows_ + columns_ - 1; }
  /// The position of the tile's owner. `held`, by position: bytes of each node's planned tiles.
  std::size_t choose(DatumId tile, const std::vector<Bytes>& held) const;
  /// Removes a node that has no workers left.
  void lost(std::size_t place);

 private:
  void form_grid();

  const View* view_ = nullptr;
  std::vector<std::size_t> all_, places_;
  std::size_t rows_ = 1, columns_ = 1;  // of the grid
};

}  // namespace fairlead::schedule::blocks
