// The data of an LU factorization with incremental pivoting other than the tiles of the matrix.
#include <fairlead/error.hpp>
#include <fairlead/incremental_lu.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "algorithms/linalg/inner_block.hpp"
#include "base/pages.hpp"

namespace fairlead::linalg {

namespace {
std::int32_t block_columns(std::int32_t tile, std::int32_t inner_block) noexcept {
  return inner_block == 0 ? inner_block_for(tile) : inner_block;
}
}  // namespace

template <class T>
IncrementalPivots<T>::IncrementalPivots(Runtime& runtime, const TiledMatrix<T>& a, std::int32_t inner_block,
                                        detail::StoredFactors<T>* stored)
    : runtime_(runtime), n_(a.rows()), tile_(a.tile()), inner_block_(block_columns(a.tile(), inner_block)) {
  if (a.rows() != a.columns())
    throw UsageError(
        fmt::format("an LU factorization needs a square matrix; this one is {} x {}", a.rows(), a.columns()));
  if (inner_block_ < 1 || inner_block_ > tile_)
    throw UsageError(fmt::format("a block of {} columns in a tile of {}: 1 to {} are possible", inner_block,
                                 tile_, tile_));
  try {
    for (std::int32_t i = 0; i < a.tile_rows(); ++i)
      for (std::int32_t k = 0; k <= i; ++k) {
        const std::int32_t columns = a.columns_of(k);
        const std::int32_t rows = i == k ? columns : std::min(inner_block_, columns);
        const std::string lower = fmt::format("L[{},{}]", i, k), exchanges = fmt::format("P[{},{}]", i, k);
        if (stored != nullptr) {
          lower_.push_back(stored->tile(detail::FactorPart::lower, i, k, lower, rows, columns));
          exchanges_.push_back(
              stored->exchanges(detail::FactorPart::pair_exchanges, i, k, exchanges, columns));
          continue;
        }
        if (a.distribution() == nullptr) {
          lower_.push_back(runtime_.matrix<T>(lower, rows, columns));
          exchanges_.push_back(runtime_.vector<std::int32_t>(exchanges, columns));
          continue;
        }
        const OwnedBy owner{a.distribution()->owner(i, k)};
        lower_.push_back(runtime_.matrix<T>(lower, rows, columns, owner));
        exchanges_.push_back(runtime_.vector<std::int32_t>(exchanges, columns, owner));
      }
  } catch (...) {
    remove_all();
    throw;
  }
}

template <class T>
IncrementalPivots<T>::~IncrementalPivots() {
  remove_all();
}

template <class T>
void IncrementalPivots<T>::remove_all() noexcept {
  const auto remove = [this](const auto& handles) {
    for (const auto& handle : handles) try {
        if (handle.datum().datum != nullptr) runtime_.remove(handle);
      } catch (...) {
        // Removal fails in a body, in another thread, or if memory is exhausted: the datum then stays until the runtime
        // ends.
      }
  };
  remove(lower_);
  remove(exchanges_);
}

template <class T>
Bytes IncrementalPivots<T>::bytes(std::int64_t n, std::int32_t tile, std::int32_t inner_block) noexcept {
  const std::int64_t block = block_columns(tile, inner_block), tiles = (n + tile - 1) / tile;
  Bytes bytes = 0;
  for (std::int64_t k = 0; k < tiles; ++k) {
    const std::int64_t columns = std::min<std::int64_t>(tile, n - k * tile), below = tiles - 1 - k;
    const auto pages = [columns](std::int64_t rows, std::size_t element) {
      return whole_pages_for(static_cast<Bytes>(rows * columns) * element);
    };
    bytes += pages(columns, sizeof(T)) +
             static_cast<Bytes>(below) * pages(std::min(block, columns), sizeof(T)) +
             static_cast<Bytes>(below + 1) * pages(1, sizeof(std::int32_t));
  }
  return bytes;
}

template <class T>
void IncrementalPivots<T>::require_shape_of(const TiledMatrix<T>& a) const {
  if (a.rows() != n_ || a.columns() != n_ || a.tile() != tile_)
    throw UsageError(fmt::format(
        "the pivots are for a matrix of {} x {} in tiles of {}; this one is {} x {} in tiles of {}", n_, n_,
        tile_, a.rows(), a.columns(), a.tile()));
}

template class IncrementalPivots<float>;
template class IncrementalPivots<double>;
template class IncrementalPivots<std::complex<float>>;
template class IncrementalPivots<std::complex<double>>;

}  // namespace fairlead::linalg
