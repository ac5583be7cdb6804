// How large the elements of a tiled matrix are: the largest of all, and the largest sum of a row. For the
// growth in a factorization, and for the condition of a triangle.
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

namespace fairlead::linalg {

enum class Elements : std::uint8_t { all, upper };  // upper: those on and above the diagonal

template <class T>
class ElementSizes {
 public:
  /// Submits a task for each tile that counts. This object must stay until the flow has been waited for, and
  /// then tells. Once.
  void submit(Flow& flow, const TiledMatrix<T>& a, Elements which) {
    tile_ = a.tile();
    const std::int32_t rows = which == Elements::all ? a.tile_rows() : a.tile_columns();
    told_.resize(tasks(a, which));
    const auto look =
        codelet("sizes").cpu([this](In<Tile<T>> t, bool triangle, std::int64_t row, std::size_t place) {
          told_[place] = told_by(t, triangle, row);
        });
    std::size_t place = 0;
    for (std::int32_t i = 0; i < rows; ++i)
      for (std::int32_t j = which == Elements::all ? 0 : i; j < a.tile_columns(); ++j, ++place)
        flow.submit(
            look(a(i, j), which == Elements::upper && i == j, static_cast<std::int64_t>(i) * tile_, place));
  }
  static std::size_t tasks(const TiledMatrix<T>& a, Elements which) noexcept {
    const auto rows = static_cast<std::size_t>(a.tile_rows()),
               columns = static_cast<std::size_t>(a.tile_columns());
    return which == Elements::all ? rows * columns : columns * (columns + 1) / 2;
  }

  /// NaN if one is.
  double largest() const noexcept {
    double size = 0;
    for (const Told& told : told_) size = larger(size, told.largest);
    return size;
  }
  double infinity_norm() const {
    std::vector<double> sums;
    for (const Told& told : told_) {
      sums.resize(std::max(sums.size(), static_cast<std::size_t>(told.row) + told.row_sums.size()));
      for (std::size_t i = 0; i < told.row_sums.size(); ++i)
        sums[static_cast<std::size_t>(told.row) + i] += told.row_sums[i];
    }
    double norm = 0;
    for (const double sum : sums) norm = larger(norm, sum);
    return norm;
  }

 private:
  struct Told {
    double largest = 0;
    std::int64_t row = 0;  // with which the tile begins
    std::vector<double> row_sums;
  };
  static double larger(double a, double b) noexcept {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
    return std::max(a, b);
  }
  static Told told_by(const In<Tile<T>>& tile, bool triangle, std::int64_t row) {
    Told told{0, row, std::vector<double>(static_cast<std::size_t>(tile.rows()))};
    for (int j = 0; j < tile.columns(); ++j)
      for (int i = 0; i < (triangle ? std::min(j + 1, tile.rows()) : tile.rows()); ++i) {
        const double size = std::abs(static_cast<double>(tile(i, j)));
        told.largest = larger(told.largest, size);
        told.row_sums[static_cast<std::size_t>(i)] += size;
      }
    return told;
  }

  std::int32_t tile_ = 1;
  std::vector<Told> told_;  // by tile: a task writes its own
};

}  // namespace fairlead::linalg
