// The data of a symmetric indefinite factorization other than the tiles of the matrix.
#include <fairlead/error.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/pivoted_lu.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <string>

#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "base/pages.hpp"

namespace fairlead::linalg {

template <class T>
SymmetricPivots<T>::SymmetricPivots(Runtime& runtime, const TiledMatrix<T>& a,
                                    detail::StoredFactors<T>* stored, Symmetry symmetry)
    : runtime_(runtime),
      n_(a.rows()),
      tile_(a.tile()),
      is_distributed_(a.distribution() != nullptr),
      symmetry_(symmetry) {
  require_square(a, "a symmetric factorization");
  const std::int32_t nt = a.tile_columns();
  const auto side = static_cast<std::int32_t>(std::min<std::int64_t>(tile_, n_));
  sizes_ = std::make_shared<std::vector<double>>(static_cast<std::size_t>(3 * nt));
  try {
    for (std::int32_t k = 0; k < nt; ++k) {
      const std::int32_t rows = a.columns_of(k);
      // With the tile of the matrix in row k of the diagonal.
      const OwnedBy owner{is_distributed_ ? a.distribution()->owner(k, k) : 0};
      const auto new_tile = [&](const std::string& name, std::int32_t tile_rows, std::int32_t columns) {
        return is_distributed_ ? runtime_.matrix<T>(name, tile_rows, columns, owner)
                               : runtime_.matrix<T>(name, tile_rows, columns);
      };
      const auto workspace = [&](Tiles& tiles, const char* kind, std::int32_t tile_rows) {
        tiles.push_back(new_tile(fmt::format("{}[{}]", kind, k), tile_rows, side));
      };
      const auto tile = [&](Tiles& tiles, detail::FactorPart part, const char* kind, std::int32_t tile_rows,
                            std::int32_t columns) {
        const std::string name = fmt::format("{}[{}]", kind, k);
        tiles.push_back(stored != nullptr ? stored->tile(part, k, k, name, tile_rows, columns)
                                          : new_tile(name, tile_rows, columns));
      };
      const auto exchanges = [&](std::vector<Exchanges>& list, detail::FactorPart part, const char* kind,
                                 std::int32_t count) {
        const std::string name = fmt::format("{}[{}]", kind, k);
        list.push_back(stored != nullptr ? stored->exchanges(part, k, k, name, count)
                       : is_distributed_ ? runtime_.vector<std::int32_t>(name, count, owner)
                                         : runtime_.vector<std::int32_t>(name, count));
      };
      if (stored == nullptr) {
        workspace(products_, "H", side);
        workspace(collected_, "W", rows);
      }
      tile(diagonal_, detail::FactorPart::band_diagonal, "T", rows, rows);
      exchanges(band_exchanges_, detail::FactorPart::band_exchanges, "Q", rows);
      if (k + 1 < nt) {
        exchanges(panels_, detail::FactorPart::symmetric_exchanges, "P", a.columns_of(k + 1));
        tile(below_, detail::FactorPart::band_below, "T-", a.columns_of(k + 1), rows);
        tile(right_, detail::FactorPart::band_right, "T+", rows, a.columns_of(k + 1));
      }
      if (k + 2 < nt)
        tile(second_right_, detail::FactorPart::band_second_right, "T++", rows, a.columns_of(k + 2));
    }
  } catch (...) {
    remove_all();
    throw;
  }
}

template <class T>
SymmetricPivots<T>::~SymmetricPivots() {
  remove_all();
}

template <class T>
void SymmetricPivots<T>::remove_all() noexcept {
  const auto remove = [this](const auto& handles) {
    for (const auto& handle : handles) try {
        if (handle.datum().datum != nullptr) runtime_.remove(handle);
      } catch (...) {
        // Removal fails in a body, in another thread, or if memory is exhausted: the datum then stays until the runtime
        // ends.
      }
  };
  for (const auto* tiles : {&diagonal_, &below_, &right_, &second_right_, &products_, &collected_})
    remove(*tiles);
  remove(panels_);
  remove(band_exchanges_);
}

template <class T>
double SymmetricPivots<T>::largest_element() const {
  double size = 0;
  for (const double one : *sizes_) size = larger(size, one);
  if (!is_distributed_) return size;
  double of_all[] = {size};
  allreduce_max(runtime_, of_all);
  return of_all[0];
}

template <class T>
Bytes SymmetricPivots<T>::bytes(std::int64_t n, std::int32_t tile) noexcept {
  const auto tiles = static_cast<Bytes>((n + tile - 1) / tile);
  const auto side = static_cast<Bytes>(std::min<std::int64_t>(n, tile));
  return tiles *
         (6 * whole_pages_for(side * side * sizeof(T)) + 2 * whole_pages_for(side * sizeof(std::int32_t)));
}

template <class T>
void SymmetricPivots<T>::require_shape_of(const TiledMatrix<T>& a) const {
  if (a.rows() != n_ || a.columns() != n_ || a.tile() != tile_)
    throw UsageError(fmt::format(
        "the pivots are for a matrix of {0} x {0} in tiles of {1}; this one is {2} x {3} in tiles of {4}", n_,
        tile_, a.rows(), a.columns(), a.tile()));
}

template <class T>
std::int32_t SymmetricPivots<T>::largest_tile_in_memory() const noexcept {
  // A task that exchanges rows and columns uses six tiles.
  constexpr Bytes tiles_of_task = 6;
  const Bytes capacity = runtime_.capacity_bytes();
  const auto needed = [this](std::int32_t tile) {
    const auto side = static_cast<Bytes>(tile);
    return std::max(RowPivots<T>::panel_bytes(n_ - std::min<std::int64_t>(n_, tile), tile),
                    tiles_of_task * whole_pages_for(side * side * sizeof(T)) +
                        whole_pages_for(side * sizeof(std::int32_t)));
  };
  auto tile = static_cast<std::int32_t>(std::min<std::int64_t>(tile_, n_));
  while (tile > 0 && needed(tile) > capacity) --tile;
  return tile;
}

template class SymmetricPivots<float>;
template class SymmetricPivots<double>;
template class SymmetricPivots<std::complex<float>>;
template class SymmetricPivots<std::complex<double>>;

}  // namespace fairlead::linalg
