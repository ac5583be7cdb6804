// The tasks of a tiled LU factorization with partial pivoting in program order, with their priorities.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead::linalg {

/// The tiles of a matrix with at least as many rows as columns, and the first column of each block.
struct PivotedLuShape {
  std::int32_t tile_rows, tile_columns;
  std::span<const std::int32_t> column_blocks;
};

/// Calls sink.panel(k, priority) for panel k, sink.exchange(k, j, priority) for the row exchanges of panel k in column j
/// and the solve for tile (k, j), and sink.gemm(i, j, k, priority). Block by block: first the updates by the panels to the
/// left, then the panels of the block, each followed by its updates of the block. Only the tasks before the next panel,
/// the critical path, have positive priorities: the number of tasks to the end on it.
template <class Sink>
void for_each_pivoted_lu_task(const PivotedLuShape& shape, Sink&& sink) {
  const std::int32_t mt = shape.tile_rows, nt = shape.tile_columns;
  const auto priority = [nt](std::int32_t k, std::int32_t j, std::int32_t steps) {
    return j == k + 1 ? 3 * (nt - k) - steps : 0;
  };
  const auto update = [&](std::int32_t k, std::int32_t begin, std::int32_t end) {
    for (std::int32_t j = begin; j < end; ++j) sink.exchange(k, j, priority(k, j, 1));
    for (std::int32_t i = k + 1; i < mt; ++i)
      for (std::int32_t j = begin; j < end; ++j) sink.gemm(i, j, k, priority(k, j, 2));
  };
  for (std::size_t block = 0; block < shape.column_blocks.size(); ++block) {
    const std::int32_t begin = shape.column_blocks[block];
    const std::int32_t end = block + 1 < shape.column_blocks.size() ? shape.column_blocks[block + 1] : nt;
    for (std::int32_t k = 0; k < begin; ++k) update(k, begin, end);
    for (std::int32_t k = begin; k < end; ++k) {
      sink.panel(k, 3 * (nt - k));
      update(k, k + 1, end);
    }
  }
}

}  // namespace fairlead::linalg
