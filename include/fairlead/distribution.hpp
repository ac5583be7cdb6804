// Distributions: the owner rank of each tile of a matrix. Algorithms accept any distribution.
//
//   auto a = runtime.tiled<double>("A", n, n, tile, fairlead::Distribution::over(runtime.ranks()));
//
// Ranks are numbered row by row in their grid.
#pragma once
#include <fairlead/cyclic_map.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace fairlead {

/// A datum that all ranks share and this rank stores.
struct OwnedBy {
  std::uint32_t rank = 0;
};
/// Block-cyclic: blocks of block_rows x block_columns tiles are distributed cyclically over a grid of ranks, starting
/// at rank (first_row, first_column).
struct BlockCyclic {
  std::int32_t rank_rows = 1, rank_columns = 1;  ///< P and Q
  std::int32_t block_rows = 1, block_columns = 1;
  std::int32_t first_row = 0, first_column = 0;

  constexpr std::uint32_t owner(std::int32_t row, std::int32_t column) const noexcept {
    const std::int32_t of_row = (row / block_rows + first_row) % rank_rows;
    const std::int32_t of_column = (column / block_columns + first_column) % rank_columns;
    return static_cast<std::uint32_t>(of_row * rank_columns + of_column);
  }
};

class Distribution {
 public:
  using Owner = std::function<std::uint32_t(std::int32_t row, std::int32_t column)>;

  /// Any function of the tile's coordinates; it must be the same on all ranks.
  explicit Distribution(Owner owner) : owner_(std::move(owner)) {}
  /// 2-D cyclic.
  explicit Distribution(const CyclicMap& map)
      : owner_([map](std::int32_t row, std::int32_t column) {
          return static_cast<std::uint32_t>(map.rank(row, column));
        }) {}
  /// 2-D block-cyclic. Throws UsageError for a number out of range.
  explicit Distribution(const BlockCyclic& map);
  /// 2-D cyclic over the squarest grid of this many ranks that has at most as many rows as columns.
  static Distribution over(std::uint32_t ranks) { return Distribution(grid_of(ranks)); }
  static constexpr CyclicMap grid_of(std::uint32_t ranks) noexcept {
    std::uint32_t rows = 1;
    for (std::uint32_t i = 1; i * i <= ranks; ++i)
      if (ranks % i == 0) rows = i;
    return {.rank_rows = static_cast<std::int32_t>(rows),
            .rank_columns = static_cast<std::int32_t>(ranks == 0 ? 1 : ranks / rows)};
  }
  /// Two levels, each 2-D cyclic: tiles are distributed over the nodes of a cluster, and those of a node over its
  /// ranks. The `rank_` fields of the map are the grid of nodes, the `device_` fields the grid of ranks in a node.
  static Distribution of_nodes(const CyclicMap& map);
  /// Cyclic by blocks of `block` rows or columns of tiles. Throws UsageError if a number is 0.
  static Distribution by_rows(std::uint32_t ranks, std::int32_t block = 1);
  static Distribution by_columns(std::uint32_t ranks, std::int32_t block = 1);
  /// For matrices of which only a triangle is stored: row k and column k of tiles have the same owners. Values that go
  /// along both, as in a Cholesky factorization, are therefore sent to fewer ranks. Tiles (i, j) and (j, i) have the
  /// same owner. Uses `side` * `side` / 2 ranks. Beaumont, Duchon, Eyraud-Dubois, Langou, Verite 2022. Throws
  /// UsageError if the side is odd or 0.
  static Distribution symmetric(std::int32_t side);
  /// A table of owners, row by row, for the whole matrix or for a pattern that repeats. Throws UsageError if the number
  /// of owners is not rows * columns.
  static Distribution table(std::int32_t rows, std::int32_t columns, std::vector<std::uint32_t> owners);

  std::uint32_t owner(std::int32_t row, std::int32_t column) const { return owner_(row, column); }

 private:
  Owner owner_;
};

}  // namespace fairlead
