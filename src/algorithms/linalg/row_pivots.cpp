// The row exchanges of an LU factorization with partial pivoting, and its memory.
#include <fairlead/error.hpp>
#include <fairlead/pivoted_lu.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/column_blocks.hpp"
#include "algorithms/linalg/pivoted_lu_kernels.hpp"
#include "base/pages.hpp"

namespace fairlead::linalg {

namespace {

/// The memory of the rank that has the least, and the workers of the one that has the most: all ranks must factor the
/// same blocks.
struct CommonMemory {
  Bytes bytes;
  std::int64_t workers;
};
CommonMemory common_memory(Runtime& runtime, bool distributed) {
  std::array<double, 2> numbers{-static_cast<double>(runtime.capacity_bytes()),
                                static_cast<double>(runtime.workers())};
  if (distributed) allreduce_max(runtime, numbers);
  return {static_cast<Bytes>(-numbers[0]), static_cast<std::int64_t>(numbers[1])};
}

}  // namespace

template <class T>
RowPivots<T>::RowPivots(Runtime& runtime, const TiledMatrix<T>& a, detail::StoredFactors<T>* stored)
    : runtime_(runtime), rows_(a.rows()), columns_(a.columns()), tile_(a.tile()) {
  if (rows_ < columns_)
    throw UsageError(fmt::format(
        "an LU factorization with partial pivoting needs at least as many rows as columns; this matrix is "
        "{} x {}",
        rows_, columns_));
  const bool distributed = a.distribution() != nullptr;
  const CommonMemory memory = common_memory(runtime, distributed);
  const Bytes tile_bytes = whole_pages_for(static_cast<Bytes>(tile_) * static_cast<Bytes>(tile_) * sizeof(T));
  const std::int64_t ranks = distributed ? runtime.ranks() : 1;
  column_blocks_ =
      linalg::column_blocks({.tile_rows = a.tile_rows(),
                             .tile_columns = a.tile_columns(),
                             .tiles_in_memory = ranks * static_cast<std::int64_t>(memory.bytes / tile_bytes),
                             .workers = ranks * memory.workers,
                             .ranks = ranks});
  try {
    for (std::int32_t k = 0; k < a.tile_columns(); ++k) {
      const std::string name = fmt::format("P[{}]", k);
      if (stored != nullptr) {
        panels_.push_back(stored->exchanges(detail::FactorPart::row_exchanges, k, k, name, a.columns_of(k)));
        continue;
      }
      panels_.push_back(distributed ? runtime_.vector<std::int32_t>(name, a.columns_of(k),
                                                                    OwnedBy{a.distribution()->owner(k, k)})
                                    : runtime_.vector<std::int32_t>(name, a.columns_of(k)));
    }
  } catch (...) {
    remove_all();
    throw;
  }
}

template <class T>
void RowPivots<T>::set_column_blocks(std::vector<std::int32_t> firsts) {
  const auto count = static_cast<std::int32_t>(panels_.size());
  if (firsts.empty() || firsts.front() != 0 || (count > 0 && firsts.back() >= count) ||
      std::ranges::adjacent_find(firsts, std::greater_equal<>()) != firsts.end())
    throw UsageError("the blocks of columns of an LU factorization must ascend from 0");
  column_blocks_ = std::move(firsts);
}

template <class T>
RowPivots<T>::~RowPivots() {
  remove_all();
}

template <class T>
void RowPivots<T>::remove_all() noexcept {
  for (const auto& panel : panels_) try {
      if (panel.datum().datum != nullptr) runtime_.remove(panel);
    } catch (...) {
      // Removal fails in a body, in another thread, or if memory is exhausted: the datum then stays until the runtime
      // ends.
    }
}

template <class T>
Bytes RowPivots<T>::bytes(std::int64_t n, std::int32_t tile) noexcept {
  return static_cast<Bytes>((n + tile - 1) / tile) *
         whole_pages_for(static_cast<Bytes>(std::min<std::int64_t>(n, tile)) * sizeof(std::int32_t));
}

template <class T>
Bytes RowPivots<T>::panel_bytes(std::int64_t rows, std::int32_t tile) noexcept {
  const auto elements = [tile](std::int64_t height) {
    return whole_pages_for(static_cast<Bytes>(height) * static_cast<Bytes>(tile) * sizeof(T));
  };
  return static_cast<Bytes>(rows / tile) * elements(tile) + elements(rows % tile) +
         elements(panel_leading_dimension(rows)) +
         whole_pages_for(static_cast<Bytes>(tile) * sizeof(std::int32_t));
}

template <class T>
void RowPivots<T>::require_shape_of(const TiledMatrix<T>& a) const {
  if (a.rows() != rows_ || a.columns() != columns_ || a.tile() != tile_)
    throw UsageError(fmt::format(
        "the pivots are for a matrix of {} x {} in tiles of {}; this one is {} x {} in tiles of {}", rows_,
        columns_, tile_, a.rows(), a.columns(), a.tile()));
}

template <class T>
std::int32_t RowPivots<T>::largest_tile_in_memory() const noexcept {
  const Bytes capacity = runtime_.capacity_bytes();
  auto tile = static_cast<std::int32_t>(std::min<std::int64_t>(tile_, columns_));
  while (tile > 0 && panel_bytes(rows_, tile) > capacity) --tile;
  return tile;
}

template class RowPivots<float>;
template class RowPivots<double>;
template class RowPivots<std::complex<float>>;
template class RowPivots<std::complex<double>>;

}  // namespace fairlead::linalg
