// The tasks of a symmetric indefinite factorization P^T A P = L T L^T in program order, with their priorities.
#pragma once
#include <cstdint>

namespace fairlead::linalg {

/// Indices are those of tiles; 0 where a task has fewer.
enum class LdltStep : std::uint8_t {
  set_product,             ///< (k, j): H[k, j] := T[k, k] L[j, k]^T
  add_product,             ///< (k, j): H[k, j] += T[k, k - 1] L[j, k - 1]^T
  add_transposed_product,  ///< (k, j): H[k, j] += T[k + 1, k]^T L[j, k + 1]^T, of which both are one tile if k + 1 = j
  update,                  ///< (i, j, k): A[i, j] -= L[i, k] H[k, j]
  diagonal,                ///< (j): A[j, j] becomes T[j, j]
  panel,                   ///< (j): the tiles below A[j, j]
  below,                   ///< (j): the triangle of A[j + 1, j] becomes T[j + 1, j]
  exchange_rows,           ///< (k, j): the exchanges of panel j in column k of tiles, a part of L
  // The exchanges of panel j in rows and columns from tile j + 1 on, by tile.
  collect_block,      ///< (j)
  collect_below,      ///< (i, j)
  exchange,           ///< (i, j, l)
  exchange_diagonal,  ///< (i, j)
  set_below,          ///< (i, j)
  set_block,          ///< (i, j)
  // Band LU of T: block k of rows.
  copy_diagonal,  ///< (k)
  copy_below,     ///< (k): T[k + 1, k]
  copy_right,     ///< (k): T[k, k + 1]
  band_panel,     ///< (k)
  band_clear,     ///< (k): the tile for fill
  band_exchange,  ///< (k, d): rows of blocks k and k + 1, d tiles right of the diagonal
  band_update,    ///< (k, d)
  band_size,      ///< (k): the largest element of a row of U'
};

/// Calls sink(step, priority, first index, second, third). Left-looking: column j is updated by all columns to its left,
/// and factored; then rows and columns are exchanged. Tasks of the band LU have no priority: only the last ones are on
/// the critical path.
template <class Sink>
void for_each_ldlt_task(std::int32_t nt, Sink&& sink) {
  using enum LdltStep;
  const auto factor_band = [&](std::int32_t k) {
    sink(band_panel, 0, k, 0, 0);
    for (std::int32_t distance = 1; distance <= 2 && k + distance < nt; ++distance) {
      if (distance == 2) sink(band_clear, 0, k, 0, 0);
      sink(band_exchange, 0, k, distance, 0);
      sink(band_update, 0, k, distance, 0);
    }
    sink(band_size, 0, k, 0, 0);
  };
  for (std::int32_t j = 0; j < nt; ++j) {
    const bool last = j + 1 == nt;
    const std::int32_t base = 8 * (nt - j);
    const auto product = [&](std::int32_t k) {
      sink(set_product, base + 6, k, j, 0);
      if (k > 1) sink(add_product, base + 6, k, j, 0);
      if (k < j) sink(add_transposed_product, base + 6, k, j, 0);
    };
    for (std::int32_t k = 1; k < j; ++k) product(k);
    for (std::int32_t k = 1; k < j; ++k) sink(update, base + 5, j, j, k);
    sink(diagonal, base + 5, j, 0, 0);
    sink(copy_diagonal, 0, j, 0, 0);
    if (j > 0 && !last) {
      product(j);
      for (std::int32_t k = 1; k <= j; ++k)
        for (std::int32_t i = j + 1; i < nt; ++i) sink(update, base + 4, i, j, k);
    }
    if (!last) {
      sink(panel, base + 3, j, 0, 0);
      if (j > 0) sink(below, base + 2, j, 0, 0);
      sink(copy_below, 0, j, 0, 0);
      sink(copy_right, 0, j, 0, 0);
      sink(collect_block, base + 2, j, 0, 0);
      for (std::int32_t i = j + 2; i < nt; ++i) sink(collect_below, base + 2, i, j, 0);
      for (std::int32_t l = j + 2; l < nt; ++l) {
        sink(exchange_diagonal, base + 2, l, j, 0);
        for (std::int32_t i = l + 1; i < nt; ++i) sink(exchange, base + 2, i, j, l);
      }
      for (std::int32_t i = j + 1; i < nt; ++i) sink(set_block, base + 1, i, j, 0);
      for (std::int32_t i = j + 2; i < nt; ++i) sink(set_below, base + 1, i, j, 0);
      for (std::int32_t k = 0; k < j; ++k) sink(exchange_rows, base + 1, k, j, 0);
    }
    if (j > 0) factor_band(j - 1);
    if (last) factor_band(j);
  }
}

}  // namespace fairlead::linalg
