// Norms of the upper triangle of a tiled matrix, for the condition number and the rank of R. The partial results of a
// row pass from tile to tile along the row, so that the result does not depend on the number of ranks.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

/// All are NaN if an element is NaN.
struct TriangleNorms {
  double norm = 0;       ///< the largest row sum of absolute values
  double frobenius = 0;  ///< the Frobenius norm, computed without overflow
  double largest = 0;    ///< the largest absolute value of an element
  double least_diagonal = 0;
};

template <class T>
class TriangleNorm {
 public:
  TriangleNorm(Runtime& runtime, const TiledMatrix<T>& a)
      : a_(a),
        of_rows_(static_cast<std::size_t>(a.columns() * figures)),
        distributed_(runtime, "sizes of rows", of_rows_.data(), a.columns(), figures,
                     TileSize(a.tile(), figures), a.distribution()) {}

  static std::uint64_t tasks(const TiledMatrix<T>& a) noexcept {
    const auto columns = static_cast<std::uint64_t>(a.tile_columns());
    return columns * (columns + 1) / 2;
  }
  static Bytes bytes(std::int64_t n) noexcept { return static_cast<Bytes>(n * figures) * sizeof(double); }
  void submit(Flow& flow) {
    const auto look = codelet("sums").cpu(
        [](In<Tile<T>> t, InOut<Tile<double>> rows, bool diagonal) { look_at(t, rows, diagonal); });
    const TiledMatrix<double>& rows = distributed_.tiles();
    for (std::int32_t i = 0; i < a_.tile_columns(); ++i)
      for (std::int32_t j = i; j < a_.tile_columns(); ++j)
        flow.submit(on_owner_of(look(a_(i, j), rows(i, 0), i == j), a_, i, j, rows));
  }
  /// Returns the norms after the flow has been waited for. Collective over the ranks.
  TriangleNorms combine_ranks() {
    distributed_.gather();
    const auto n = static_cast<std::size_t>(a_.columns());
    TriangleNorms all{.least_diagonal = std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isnan(of_rows_[i])) {
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        return {none, none, none, none};
      }
      all.norm = std::max(all.norm, of_rows_[i]);
      all.least_diagonal = std::min(all.least_diagonal, of_rows_[i + n]);
      all.largest = std::max(all.largest, of_rows_[i + 2 * n]);
      all.frobenius = std::hypot(all.frobenius, of_rows_[i + 3 * n]);
    }
    return all;
  }

 private:
  // Per row: the sum of absolute values, the diagonal's absolute value, the largest one, the Euclidean norm.
  static constexpr std::int32_t figures = 4;

  static void look_at(const In<Tile<T>>& t, const InOut<Tile<double>>& rows, bool diagonal) {
    const auto height = static_cast<std::size_t>(rows.rows());
    std::vector<double> sums(height), largest(height), squares(height);
    const auto end_of = [&](int j) { return diagonal ? std::min(j + 1, t.rows()) : t.rows(); };
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < end_of(j); ++i) {
        const double size = magnitude(t(i, j));
        sums[static_cast<std::size_t>(i)] += size;
        largest[static_cast<std::size_t>(i)] = std::max(largest[static_cast<std::size_t>(i)], size);
      }
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < end_of(j); ++i)
        if (const double by = largest[static_cast<std::size_t>(i)]; by > 0) {
          const double part = magnitude(t(i, j)) / by;
          squares[static_cast<std::size_t>(i)] += part * part;
        }
    for (std::int32_t i = 0; i < rows.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      rows(i, 0) += sums[row];
      if (diagonal) rows(i, 1) = magnitude(t(i, i));
      rows(i, 2) = std::max(rows(i, 2), largest[row]);
      rows(i, 3) = std::hypot(rows(i, 3), largest[row] * std::sqrt(squares[row]));
    }
  }

  const TiledMatrix<T>& a_;
  std::vector<double> of_rows_;
  DistributedColumns<double> distributed_;
};

}  // namespace fairlead::linalg
