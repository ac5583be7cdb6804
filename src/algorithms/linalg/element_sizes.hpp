// How large the elements of a tiled matrix are: for the growth in a factorization.
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

#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/over_ranks.hpp"

namespace fairlead::linalg {

enum class Elements : std::uint8_t { all, upper };  // upper: those on and above the diagonal

template <class T>
class ElementSizes {
 public:
  /// Submits a task for each tile that counts. This object must stay until the flow has been waited for, and
  /// then tells. Once.
  void submit(Flow& flow, const TiledMatrix<T>& a, Elements which) {
    const std::int32_t rows = which == Elements::all ? a.tile_rows() : a.tile_columns();
    told_.assign(tasks(a, which), 0);
    const auto look = codelet("sizes").cpu(
        [this](In<Tile<T>> t, bool triangle, std::size_t place) { told_[place] = largest_in(t, triangle); });
    std::size_t place = 0;
    for (std::int32_t i = 0; i < rows; ++i)
      for (std::int32_t j = which == Elements::all ? 0 : i; j < a.tile_columns(); ++j, ++place)
        flow.submit(look(a(i, j), which == Elements::upper && i == j, place));
  }
  static std::size_t tasks(const TiledMatrix<T>& a, Elements which) noexcept {
    const auto rows = static_cast<std::size_t>(a.tile_rows()),
               columns = static_cast<std::size_t>(a.tile_columns());
    return which == Elements::all ? rows * columns : columns * (columns + 1) / 2;
  }

  /// Over ranks, once the flow has been waited for: of all that these have seen.
  void bring_together(Runtime& runtime) {
    double all[] = {largest()};
    largest_of_ranks(runtime, all);
    told_.assign(1, all[0]);
  }
  /// NaN if one is.
  double largest() const noexcept {
    double size = 0;
    for (const double told : told_) size = larger(size, told);
    return size;
  }

 private:
  static double largest_in(const In<Tile<T>>& tile, bool triangle) {
    double size = 0;
    for (int j = 0; j < tile.columns(); ++j)
      for (int i = 0; i < (triangle ? std::min(j + 1, tile.rows()) : tile.rows()); ++i)
        size = larger(size, std::abs(static_cast<double>(tile(i, j))));
    return size;
  }

  std::vector<double> told_;  // by tile: a task writes its own
};

}  // namespace fairlead::linalg
