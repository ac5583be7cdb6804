// Cyclic maps: the rank and the accelerator of each tile, as a function of tile coordinates. Pass one to
// TiledMatrix::advise():
//
//   a.advise(fairlead::CyclicMap{.device_rows = 2, .device_columns = 2});
//
// Data placement strategies for GPU accelerators in PaRSEC, 2025, section 4, "User-directed Data Placement Function".
#pragma once
#include <cstdint>

namespace fairlead {

/// Two levels, both 2-D cyclic: ranks in a grid of rank_rows x rank_columns, and the tiles of a rank over a grid of its
/// accelerators. The paper uses it for the Cholesky factorization.
struct CyclicMap {
  std::int32_t rank_rows = 1, rank_columns = 1;      ///< P and Q
  std::int32_t device_rows = 1, device_columns = 1;  ///< Gp and Gq, per rank

  constexpr std::int32_t rank(std::int32_t row, std::int32_t column) const noexcept {
    return row % rank_rows * rank_columns + column % rank_columns;
  }
  /// Uses the tile's position among the tiles of its rank. With the global row, a rank would use only some rows of its
  /// grid of accelerators.
  constexpr std::int32_t device(std::int32_t row, std::int32_t column) const noexcept {
    return row / rank_rows % device_rows * device_columns + column / rank_columns % device_columns;
  }
  constexpr std::int32_t operator()(std::int32_t row, std::int32_t column) const noexcept {
    return device(row, column);
  }
};

/// 2-D cyclic over ranks; the rows of tiles of a rank are distributed round-robin over its accelerators. The paper uses
/// it for the matrix product.
struct RowCyclicMap {
  /// Which rows are distributed over accelerators.
  enum class Rows : std::uint8_t {
    of_rank,    ///< the rows of the rank, counted consecutively: as the paper's text states
    of_matrix,  ///< the rows of the matrix: as the paper's formula states. With several rows of ranks some
                ///< accelerators get no tiles: with P = 2, every other one of six
  };
  std::int32_t rank_rows = 1, rank_columns = 1;  ///< P and Q
  std::int32_t devices = 1;                      ///< G, per rank
  Rows rows = Rows::of_rank;

  constexpr std::int32_t rank(std::int32_t row, std::int32_t column) const noexcept {
    return row % rank_rows * rank_columns + column % rank_columns;
  }
  constexpr std::int32_t device(std::int32_t row, std::int32_t) const noexcept {
    return (rows == Rows::of_rank ? row / rank_rows : row) % devices;
  }
  constexpr std::int32_t operator()(std::int32_t row, std::int32_t column) const noexcept {
    return device(row, column);
  }
};

}  // namespace fairlead
