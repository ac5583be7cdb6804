// The data of a QR factorization other than the tiles of the matrix.
#include <fairlead/error.hpp>
#include <fairlead/qr.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <initializer_list>
#include <string>

#include "algorithms/linalg/inner_block.hpp"
#include "base/pages.hpp"

namespace fairlead::linalg {

namespace {

/// Calls of_triangle(i, k, rows, columns) for the tiles that are reduced to a triangle, and of_join(i, k, columns) for
/// the tiles that another one annihilates. Rows and columns in elements.
template <class OfTriangle, class OfJoin>
void for_each_reflecting_tile(std::int64_t rows, std::int64_t columns, std::int32_t tile, QrTree tree,
                              const OfTriangle& of_triangle, const OfJoin& of_join) {
  const auto extent = [tile](std::int64_t elements, std::int64_t index) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(tile, elements - index * tile));
  };
  const auto count = [tile](std::int64_t elements) {
    return static_cast<std::int32_t>((elements + tile - 1) / tile);
  };
  for (std::int32_t k = 0; k < count(columns); ++k)
    for (std::int32_t i = k; i < count(rows); ++i) {
      if (i == k || tree == QrTree::binary) of_triangle(i, k, extent(rows, i), extent(columns, k));
      if (i != k) of_join(i, k, extent(columns, k));
    }
}

std::int32_t block_of(std::int32_t tile, std::int32_t inner_block) noexcept {
  return inner_block == 0 ? inner_block_for(tile) : inner_block;
}

}  // namespace

template <class T>
QrReflectors<T>::QrReflectors(Runtime& runtime, const TiledMatrix<T>& a, QrTree tree,
                              std::int32_t inner_block, detail::StoredFactors<T>* stored)
    : runtime_(runtime),
      rows_(a.rows()),
      columns_(a.columns()),
      tile_(a.tile()),
      tile_columns_(a.tile_columns()),
      inner_block_(block_of(a.tile(), inner_block)),
      tree_(tree) {
  if (rows_ < columns_)
    throw UsageError(
        fmt::format("a QR factorization needs at least as many rows as columns; this matrix is {} x {}",
                    rows_, columns_));
  if (inner_block_ < 1 || inner_block_ > tile_)
    throw UsageError(fmt::format("a block of {} reflectors in a tile of {}: 1 to {} are possible",
                                 inner_block, tile_, tile_));
  const std::size_t tiles = static_cast<std::size_t>(a.tile_rows()) * static_cast<std::size_t>(tile_columns_);
  for (Handles* handles : {&reflectors_, &factors_, &joined_}) handles->resize(tiles);
  const auto keep = [&](Handles& handles, detail::FactorPart part, const char* kind, std::int32_t i,
                        std::int32_t k, std::int32_t rows, std::int32_t columns) {
    const std::string name = fmt::format("{}[{},{}]", kind, i, k);
    Handle<Tile<T>>& kept = handles[static_cast<std::size_t>(i) * static_cast<std::size_t>(tile_columns_) +
                                    static_cast<std::size_t>(k)];
    if (stored != nullptr)
      kept = stored->tile(part, i, k, name, rows, columns);
    else if (a.distribution() == nullptr)
      kept = runtime_.matrix<T>(name, rows, columns);
    else
      kept = runtime_.matrix<T>(name, rows, columns, OwnedBy{a.distribution()->owner(i, k)});
  };
  using enum detail::FactorPart;
  try {
    for_each_reflecting_tile(
        rows_, columns_, tile_, tree_,
        [&](std::int32_t i, std::int32_t k, std::int32_t rows, std::int32_t columns) {
          keep(reflectors_, reflectors, "V", i, k, rows, std::min(rows, columns));
          keep(factors_, triangular_factors, "T", i, k, std::min(inner_block_, columns), columns);
        },
        [&](std::int32_t i, std::int32_t k, std::int32_t columns) {
          keep(joined_, joined_factors, "T of a pair", i, k, std::min(inner_block_, columns), columns);
        });
  } catch (...) {
    remove_all();
    throw;
  }
}

template <class T>
QrReflectors<T>::~QrReflectors() {
  remove_all();
}

template <class T>
void QrReflectors<T>::remove_all() noexcept {
  for (Handles* handles : {&reflectors_, &factors_, &joined_})
    for (const Handle<Tile<T>>& handle : *handles) try {
        if (handle.datum().datum != nullptr) runtime_.remove(handle);
      } catch (...) {
        // Removal fails in a body, in another thread, or if memory is exhausted: the datum then stays until the runtime
        // ends.
      }
}

template <class T>
Bytes QrReflectors<T>::bytes(std::int64_t rows, std::int64_t columns, std::int32_t tile, QrTree tree,
                             std::int32_t inner_block) noexcept {
  Bytes bytes = 0;
  const auto keep = [&bytes](std::int64_t high, std::int64_t wide) {
    bytes += whole_pages_for(static_cast<Bytes>(high * wide) * sizeof(T));
  };
  const std::int64_t block = block_of(tile, inner_block);
  for_each_reflecting_tile(
      rows, columns, tile, tree,
      [&](std::int32_t, std::int32_t, std::int64_t high, std::int64_t wide) {
        keep(high, std::min(high, wide));
        keep(std::min(block, wide), wide);
      },
      [&](std::int32_t, std::int32_t, std::int64_t wide) { keep(std::min(block, wide), wide); });
  return bytes;
}

template <class T>
void QrReflectors<T>::require_shape_of(const TiledMatrix<T>& a) const {
  if (a.rows() != rows_ || a.columns() != columns_ || a.tile() != tile_)
    throw UsageError(fmt::format(
        "the reflectors are for a matrix of {} x {} in tiles of {}; this one is {} x {} in tiles of {}",
        rows_, columns_, tile_, a.rows(), a.columns(), a.tile()));
}

template class QrReflectors<float>;
template class QrReflectors<double>;
template class QrReflectors<std::complex<float>>;
template class QrReflectors<std::complex<double>>;

}  // namespace fairlead::linalg
