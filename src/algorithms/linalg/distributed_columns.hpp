// Columns that are in the memory of each rank, presented as a tiled matrix while tasks use them: in place with one
// rank; with several ranks, distributed and gathered again.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <string>

namespace fairlead::linalg {

template <class T>
class DistributedColumns {
 public:
  /// `memory`: column-major with leading dimension `rows`; must stay valid. With several ranks its contents are the
  /// same on each, at least in the rank's own tiles. `distribution`: of the tiles; null: the default. Collective over
  /// the ranks.
  DistributedColumns(Runtime& runtime, const std::string& name, T* memory, std::int64_t rows,
                     std::int64_t columns, TileSize tile, const Distribution* distribution)
      : runtime_(runtime),
        memory_(memory),
        tiles_(runtime.ranks() == 1
                   ? runtime.tiled_in_place<T>(name, memory, rows, columns, rows, tile)
                   : runtime.tiled<T>(
                         name, rows, columns, tile,
                         distribution != nullptr ? *distribution : Distribution::over(runtime.ranks()))) {
    if (runtime.ranks() == 1) return;
    const auto deal =
        codelet("deal").cpu([memory, rows](Out<Tile<T>> t, std::int64_t row, std::int64_t column) {
          for (std::int32_t j = 0; j < t.columns(); ++j)
            for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) = memory[row + i + (column + j) * rows];
        });
    ptg::Graph graph(runtime);
    const ptg::Index i("i"), j("j");
    const ptg::Collection all = graph.data(tiles_);
    const std::int64_t height = tile.rows, width = tile.columns;
    auto each = graph.task("deal", i.in(0, tiles_.tile_rows() - 1), j.in(0, tiles_.tile_columns() - 1));
    each.runs(deal, ptg::flow("T").from(all(i, j)), i * height, j * width).at(all(i, j));
    graph.run();
  }

  const TiledMatrix<T>& tiles() const noexcept { return tiles_; }
  /// Copies the tiles to the memory of every rank. Call it after the tasks have finished.
  void gather() {
    if (runtime_.ranks() != 1) fairlead::gather(runtime_, tiles_, memory_, tiles_.rows());
  }

 private:
  Runtime& runtime_;
  T* memory_;
  TiledMatrix<T> tiles_;
};

}  // namespace fairlead::linalg
