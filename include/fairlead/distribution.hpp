// Which rank owns which tile of a matrix.
//
//   auto a = runtime.tiled<double>("A", n, n, tile, fairlead::Distribution::over(runtime.ranks()));
//
// Apart from the algorithms, which take any. Ranks are numbered row by row of their grid.
#pragma once
#include <fairlead/cyclic_map.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace fairlead {

/// A datum that all ranks know and one of them has.
struct OwnedBy {
  std::uint32_t rank = 0;
};
/// Blocks of so many tiles are dealt out in turn to the rows and columns of a grid of ranks, the first one to these.
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

  /// The function says it; all ranks have to give the same.
  explicit Distribution(Owner owner) : owner_(std::move(owner)) {}
  /// Cyclic in two dimensions.
  explicit Distribution(const CyclicMap& map)
      : owner_([map](std::int32_t row, std::int32_t column) {
          return static_cast<std::uint32_t>(map.rank(row, column));
        }) {}
  /// The same by blocks of tiles. Throws UsageError if a number makes no sense.
  explicit Distribution(const BlockCyclic& map);
  /// The same over the squarest grid of so many ranks with no more rows than columns.
  static Distribution over(std::uint32_t ranks) { return Distribution(grid_of(ranks)); }
  static constexpr CyclicMap grid_of(std::uint32_t ranks) noexcept {
    std::uint32_t rows = 1;
    for (std::uint32_t i = 1; i * i <= ranks; ++i)
      if (ranks % i == 0) rows = i;
    return {.rank_rows = static_cast<std::int32_t>(rows),
            .rank_columns = static_cast<std::int32_t>(ranks == 0 ? 1 : ranks / rows)};
  }
  /// A second level: tiles are dealt out over the nodes of a cluster, and those of a node over its ranks, cyclic in two
  /// dimensions both times: of the map, ranks are nodes, and devices are a node's ranks.
  static Distribution of_nodes(const CyclicMap& map);
  /// Rows, or columns, of tiles in blocks of so many, in turn. Throws UsageError if a number is 0.
  static Distribution by_rows(std::uint32_t ranks, std::int32_t block = 1);
  static Distribution by_columns(std::uint32_t ranks, std::int32_t block = 1);
  /// For matrices of which a triangle is there: row r and column r of tiles share their owners, so that what goes along
  /// both of them, as in a Cholesky factorization, goes to fewer. Over `side` * `side` / 2 ranks; tiles (i, j) and (j, i) are one's.
  /// Beaumont, Duchon, Eyraud-Dubois, Langou, Verite 2022. Throws UsageError if the side is odd or 0.
  static Distribution symmetric(std::int32_t side);
  /// As a table says, row by row: of the whole matrix, or of a pattern that repeats. Throws UsageError if there are not
  /// as many owners.
  static Distribution table(std::int32_t rows, std::int32_t columns, std::vector<std::uint32_t> owners);

  std::uint32_t owner(std::int32_t row, std::int32_t column) const { return owner_(row, column); }

 private:
  Owner owner_;
};

}  // namespace fairlead
