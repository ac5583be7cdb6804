// Which rank and which accelerator a tile belongs to, as it is done by hand: cyclic distributions. A map is a
// function of tile coordinates that TiledMatrix::advise() takes:
//
//   a.advise(fairlead::CyclicMap{.device_rows = 2, .device_columns = 2});
//
// Data placement strategies for GPU accelerators in PaRSEC, 2025, section 4, "User-directed Data Placement
// Function".
#pragma once
#include <cstdint>

namespace fairlead {

/// Two levels, both cyclic in two dimensions: ranks in a grid of rank_rows x rank_columns, and the tiles of a
/// rank over its accelerators, in a grid again. The paper's for the Cholesky factorization.
struct CyclicMap {
  std::int32_t rank_rows = 1, rank_columns = 1;      ///< P and Q
  std::int32_t device_rows = 1, device_columns = 1;  ///< Gp and Gq, of each rank

  constexpr std::int32_t rank(std::int32_t row, std::int32_t column) const noexcept {
    return row % rank_rows * rank_columns + column % rank_columns;
  }
  /// The tiles of a rank are counted before they are dealt out: by row itself a rank would use only some rows
  /// of its accelerators.
  constexpr std::int32_t device(std::int32_t row, std::int32_t column) const noexcept {
    return row / rank_rows % device_rows * device_columns + column / rank_columns % device_columns;
  }
  constexpr std::int32_t operator()(std::int32_t row, std::int32_t column) const noexcept {
    return device(row, column);
  }
};

/// The same over ranks, and the rows of tiles that a rank has go round robin over its accelerators. The
/// paper's for the matrix product.
struct RowCyclicMap {
  /// Which rows are dealt out.
  enum class Rows : std::uint8_t {
    of_rank,    ///< those that the rank has, one after the other: what the paper says
    of_matrix,  ///< all, wherever they are: its formula. With several rows of ranks some accelerators get
                ///< nothing, as every other of six with P = 2
  };
  std::int32_t rank_rows = 1, rank_columns = 1;  ///< P and Q
  std::int32_t devices = 1;                      ///< G, of each rank
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
