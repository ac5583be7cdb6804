// The largest sum of a row of the upper triangle of a tiled matrix: for the condition of R. Sums go along a row from tile to
// tile, so that they are the same over any ranks.
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

#include "algorithms/linalg/dealt_columns.hpp"
#include "algorithms/linalg/shapes.hpp"

namespace fairlead::linalg {

template <class T>
class TriangleNorm {
 public:
  TriangleNorm(Runtime& runtime, const TiledMatrix<T>& a)
      : a_(a),
        sums_(static_cast<std::size_t>(a.columns())),
        dealt_(runtime, "sums of rows", sums_.data(), a.columns(), 1, a.tile(), a.distribution()) {}

  static std::uint64_t tasks(const TiledMatrix<T>& a) noexcept {
    const auto columns = static_cast<std::uint64_t>(a.tile_columns());
    return columns * (columns + 1) / 2;
  }
  void submit(Flow& flow) {
    const auto add = codelet("sums").cpu([](In<Tile<T>> t, InOut<Tile<double>> sums, bool diagonal) {
      std::vector<double> own(static_cast<std::size_t>(sums.rows()));
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < (diagonal ? std::min(j + 1, t.rows()) : t.rows()); ++i)
          own[static_cast<std::size_t>(i)] += std::abs(static_cast<double>(t(i, j)));
      for (int i = 0; i < sums.rows(); ++i) sums(i, 0) += own[static_cast<std::size_t>(i)];
    });
    const TiledMatrix<double>& sums = dealt_.tiles();
    for (std::int32_t i = 0; i < a_.tile_columns(); ++i)
      for (std::int32_t j = i; j < a_.tile_columns(); ++j)
        flow.submit(near_matrix(add(a_(i, j), sums(i, 0), i == j), a_, i, j, sums));
  }
  /// Once the flow has been waited for; over ranks all call it. NaN if a sum is.
  double bring_together() {
    dealt_.bring_back();
    double norm = 0;
    for (const double sum : sums_) {
      if (std::isnan(sum)) return std::numeric_limits<double>::quiet_NaN();
      norm = std::max(norm, sum);
    }
    return norm;
  }

 private:
  const TiledMatrix<T>& a_;
  std::vector<double> sums_;
  DealtColumns<double> dealt_;
};

}  // namespace fairlead::linalg
