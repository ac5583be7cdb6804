// Fills the tiles of a matrix from its source, one task per tile.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/ptg.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <fairlead/matrix_source.hpp>

namespace fairlead::linalg {

template <class T>
auto tile_from(std::shared_ptr<const MatrixSource<T>> source) {
  return codelet("generate")
      .cpu([source = std::move(source)](Out<Tile<T>> tile, std::int64_t row, std::int64_t column) {
        source->read(row, tile.rows(), column, tile.columns(), tile.data(), tile.leading_dimension());
      });
}

/// Fills every tile of `tiles` from the source; `Tiles::lower`: only tiles on and below the diagonal.
template <class T>
void fill(Flow& flow, std::shared_ptr<const MatrixSource<T>> source, const TiledMatrix<T>& tiles,
          Tiles which) {
  const auto make = tile_from(std::move(source));
  const std::int64_t side = tiles.tile();
  for (std::int32_t i = 0; i < tiles.tile_rows(); ++i)
    for (std::int32_t j = 0; j < tiles.tile_columns() && (which == Tiles::all || j <= i); ++j)
      flow.submit(make(tiles(i, j), i * side, j * side));
}

/// The same as a graph: with several ranks, each fills its own tiles.
template <class T>
void fill(ptg::Graph& graph, std::shared_ptr<const MatrixSource<T>> source, const TiledMatrix<T>& tiles,
          Tiles which) {
  const ptg::Index i("i"), j("j");
  const std::int64_t side = tiles.tile();
  const ptg::Expression last = tiles.tile_columns() - 1;
  const ptg::Collection A = graph.data(tiles);
  auto each = graph.task("generate", i.in(0, tiles.tile_rows() - 1),
                         j.in(0, which == Tiles::all ? last : min(ptg::Expression(i), last)));
  each.runs(tile_from(std::move(source)), ptg::flow("T").from(A(i, j)), i * side, j * side).at(A(i, j));
}

/// The number of tasks of fill().
template <class T>
std::uint64_t fill_tasks(const TiledMatrix<T>& tiles, Tiles which) {
  std::uint64_t tasks = 0;
  for (std::int32_t i = 0; i < tiles.tile_rows(); ++i)
    tasks += static_cast<std::uint64_t>(which == Tiles::all ? tiles.tile_columns()
                                                            : std::min(i + 1, tiles.tile_columns()));
  return tasks;
}

}  // namespace fairlead::linalg
