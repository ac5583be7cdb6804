// Brings a matrix from its source into tiles, a task for each.
#pragma once
#include <fairlead/flow.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

#include <fairlead/matrix_source.hpp>

namespace fairlead::linalg {

/// Every tile of `tiles` becomes what the source has there; `lower`: only tiles on and below the diagonal.
template <class T>
void fill(Flow& flow, std::shared_ptr<const MatrixSource<T>> source, const TiledMatrix<T>& tiles,
          Tiles which) {
  const auto make =
      codelet("generate").cpu([source](Out<Tile<T>> tile, std::int64_t row, std::int64_t column) {
        source->read(row, tile.rows(), column, tile.columns(), tile.data(), tile.leading_dimension());
      });
  const std::int64_t side = tiles.tile();
  for (std::int32_t i = 0; i < tiles.tile_rows(); ++i)
    for (std::int32_t j = 0; j < tiles.tile_columns() && (which == Tiles::all || j <= i); ++j)
      flow.submit(make(tiles(i, j), i * side, j * side));
}

/// How many tasks that is.
template <class T>
std::uint64_t fill_tasks(const TiledMatrix<T>& tiles, Tiles which) {
  std::uint64_t tasks = 0;
  for (std::int32_t i = 0; i < tiles.tile_rows(); ++i)
    tasks += static_cast<std::uint64_t>(which == Tiles::all ? tiles.tile_columns()
                                                            : std::min(i + 1, tiles.tile_columns()));
  return tasks;
}

}  // namespace fairlead::linalg
