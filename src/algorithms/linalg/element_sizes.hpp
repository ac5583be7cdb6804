// The largest absolute value in a tiled matrix, from which the growth factor of a factorization is computed.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/larger.hpp"
#include "base/rundown_protection.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

enum class Elements : std::uint8_t { all, upper, lower };  // upper, lower: with the diagonal

template <class T>
class ElementSizes {
 public:
  /// Submits a task for each relevant tile. The object must stay valid until the flow has been waited for; then
  /// largest() is valid. Call it once.
  void submit(Flow& flow, const TiledMatrix<T>& a, Elements which) {
    const std::int32_t rows = which == Elements::upper ? a.tile_columns() : a.tile_rows();
    tile_maxima_.assign(tasks(a, which), 0);
    const auto look = codelet("sizes").cpu(
        [this, gate = rundown_.gate()](In<Tile<T>> t, Elements elements, std::size_t place) {
          if (const RundownProtection::Use use(*gate); use) tile_maxima_[place] = largest_in(t, elements);
        });
    std::size_t place = 0;
    for (std::int32_t i = 0; i < rows; ++i)
      for (std::int32_t j = which == Elements::upper ? i : 0;
           j < (which == Elements::lower ? i + 1 : a.tile_columns()); ++j, ++place)
        flow.submit(look(a(i, j), i == j ? which : Elements::all, place));
  }
  static std::size_t tasks(const TiledMatrix<T>& a, Elements which) noexcept {
    const auto rows = static_cast<std::size_t>(a.tile_rows()),
               columns = static_cast<std::size_t>(a.tile_columns());
    return which == Elements::all ? rows * columns : columns * (columns + 1) / 2;
  }

  /// Combines the results of all ranks, after the flow has been waited for.
  void combine_ranks(Runtime& runtime) {
    double all[] = {largest()};
    allreduce_max(runtime, all);
    tile_maxima_.assign(1, all[0]);
  }
  /// The largest absolute value; NaN if an element is NaN.
  double largest() const noexcept {
    double size = 0;
    for (const double maximum : tile_maxima_) size = larger(size, maximum);
    return size;
  }

 private:
  static double largest_in(const In<Tile<T>>& tile, Elements which) {
    double size = 0;
    for (int j = 0; j < tile.columns(); ++j)
      for (int i = which == Elements::lower ? j : 0;
           i < (which == Elements::upper ? std::min(j + 1, tile.rows()) : tile.rows()); ++i)
        size = larger(size, magnitude(tile(i, j)));
    return size;
  }

  std::vector<double> tile_maxima_;  // by tile: each task writes its own
  RundownProtection rundown_;        // last: tasks use all of the above
};

}  // namespace fairlead::linalg
