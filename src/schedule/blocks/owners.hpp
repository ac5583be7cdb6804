// On which memory node the updates of a tile run. Where tiles have coordinates, those of a set are dealt out
// cyclically in two dimensions, over a grid of nodes: each node then streams the inputs of some rows and some
// columns only, and the same as its neighbours in the grid at about the same time, so that they get them from
// each other.
#pragma once
#include <cstdint>
#include <vector>

#include "policy/view.hpp"

namespace fairlead::schedule::blocks {

class Owners {
 public:
  void attach(const View& view);

  /// How many nodes have tiles: their places in the order of View::nodes().
  std::size_t nodes() const noexcept { return node_count_; }
  /// The place of the tile's node. `held`, by place: bytes of tiles that each has in plans.
  std::size_t choose(DatumId tile, const std::vector<Bytes>& held) const;

 private:
  const View* view_ = nullptr;
  std::size_t node_count_ = 0;
  std::size_t grid_rows_ = 1, grid_columns_ = 1;
};

}  // namespace fairlead::schedule::blocks
