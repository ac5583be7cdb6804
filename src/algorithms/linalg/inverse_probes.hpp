// The vectors of an estimate of || A^-1 || (inverse_norm.hpp), without the solves: what they contain before each step, and
// what their solutions show. They may be in tiles; each tile's result has its own slot, and the slots are combined in order.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/inverse_norm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "algorithms/linalg/generated_matrix.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

template <class T>
class InverseProbes {
 public:
  static constexpr int steps = 2;
  static constexpr std::int64_t most_vectors = 8;  // for each of the two norms

  /// The tiles of all vectors.
  struct Grid {
    std::int64_t side;
    std::int32_t rows, columns;
  };
  struct Place {
    std::int64_t row, column;  ///< the first element of the tile
    std::size_t index;         ///< row by row
  };

  static std::int64_t vectors_for(std::int64_t n, bool weighted) noexcept {
    return std::min(n, weighted ? 2 * most_vectors : most_vectors);
  }

  /// Throws UsageError if there are weights, but not n.
  InverseProbes(std::int64_t n, std::vector<double> weights, Grid grid)
      : n_(n),
        count_(vectors_for(n, !weights.empty())),
        plain_(plain_vectors_for(n, !weights.empty())),
        weights_(std::move(weights)),
        grid_(grid),
        tile_results_(static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.columns)) {
    if (weights_.empty()) return;
    if (std::ssize(weights_) != n_)
      throw UsageError(fmt::format("{} weights for an inverse of {} rows", weights_.size(), n_));
    directed_ = std::ranges::any_of(weights_, [](double weight) { return weight < 0; });
    for (const double weight : weights_) unit_ = largest_of(std::abs(weight), unit_);
    if (unit_ > 0)
      for (double& weight : weights_) weight /= unit_;
  }

  /// Vectors of n elements.
  std::int64_t count() const noexcept { return count_; }
  std::size_t tiles() const noexcept { return tile_results_.size(); }
  bool is_weighted() const noexcept { return !weights_.empty(); }
  int steps_done() const noexcept { return steps_; }

  /// Before each step, while nothing else uses this object. Throws UsageError if no step is left.
  void begin() {
    if (steps_ == steps) throw UsageError("the norm of the inverse has been estimated: no step is left");
    if (++steps_ == 1) return;
    choose_rows();
    tile_results_.assign(tile_results_.size(), {});
  }

  /// Fills a tile with the vectors of the step: x(i, j) with x.rows() and x.columns(). Several tiles may be filled at once.
  template <class Tile>
  void fill(Tile& x, const Place& place) const {
    steps_ == 1 ? fill_signs(x, place) : fill_units(x, place);
  }

  /// Evaluates a tile of the solutions. Different tiles may be evaluated at once.
  template <class Tile>
  void evaluate(const Tile& y, const Place& place) {
    Result& result = tile_results_[place.index];
    const auto columns = static_cast<std::size_t>(y.columns()), rows = static_cast<std::size_t>(y.rows());
    for (auto* numbers : {&result.sums, &result.weighted, &result.diagonal}) numbers->assign(columns, 0);
    std::array<std::vector<Row>, 2> of_rows{std::vector<Row>(rows), std::vector<Row>(rows)};
    for (auto& some : of_rows)
      for (int i = 0; i < y.rows(); ++i) some[static_cast<std::size_t>(i)].row = place.row + i;
    for (int j = 0; j < y.columns(); ++j) {
      const std::int64_t vector = place.column + j;
      const auto c = static_cast<std::size_t>(j);
      const std::int64_t made_for = steps_ == steps ? rows_[static_cast<std::size_t>(vector)] : -1;
      for (int i = 0; i < y.rows(); ++i) {
        const double size = magnitude(y(i, j));
        Row& row = of_rows[is_weighted(vector) ? 1 : 0][static_cast<std::size_t>(i)];
        if (!(size <= row.size)) row.size = size;
        result.sums[c] += size;
        if (size != 0) result.weighted[c] += size * std::abs(weight(place.row + i));
        if (place.row + i == made_for) result.diagonal[c] = size;
      }
    }
    if (steps_ == steps) return;
    if (!weights_.empty()) {
      result.largest.resize(rows);
      std::ranges::transform(of_rows[1], result.largest.begin(), [](const Row& row) { return row.size; });
    }
    std::ranges::transform(of_rows, result.candidates.begin(),
                           [this](std::vector<Row>& some) { return largest(std::move(some)); });
  }

  // After the tiles have been evaluated: as in InverseNorm.

  double value() const {
    if (steps_ == 0) return 0;
    std::vector<double> sums = of_columns(&Result::sums);
    if (steps_ < steps) sums.resize(static_cast<std::size_t>(plain_));
    double largest = 0;
    for (const double sum : sums) {
      if (!std::isfinite(sum)) return HUGE_VAL;
      largest = std::max(largest, sum);
    }
    // || A^-1 x || <= || A^-1 || || x || in the one norm, and vectors of 1 and -1 have norm n.
    return steps_ == steps ? largest : largest / static_cast<double>(n_);
  }
  double weighted_value() const {
    double largest = is_weighted() ? 0 : HUGE_VAL;
    for (const RowOfInverse& row : rows()) {
      if (!std::isfinite(row.weighted_sum)) return HUGE_VAL;
      largest = std::max(largest, row.weighted_sum);
    }
    return largest;
  }
  std::vector<RowOfInverse> rows() const {
    if (steps_ < steps) throw UsageError("rows of the inverse are known after the last step");
    const auto sums = of_columns(&Result::sums), weighted = of_columns(&Result::weighted),
               diagonal = of_columns(&Result::diagonal);
    std::vector<RowOfInverse> all;
    for (std::size_t c = 0; c < rows_.size(); ++c)
      all.push_back({rows_[c], sums[c], weighted[c] * unit_, diagonal[c]});
    return all;
  }
  const std::vector<double>& weighted_row_maxima() const noexcept { return weighted_row_maxima_; }

  // The results of tiles as numbers, for other ranks.

  std::size_t numbers_of_tile() const noexcept {
    // Whether the tile has been evaluated; sums, weighted sums, diagonal; candidates of both kinds; the maximum of each
    // row.
    const auto count = static_cast<std::size_t>(count_);
    return 1 + 3 * count + 4 * count + (weights_.empty() ? 0 : static_cast<std::size_t>(grid_.side));
  }
  void pack(std::size_t tile, double* at) const {
    const Result& result = tile_results_[tile];
    const auto count = static_cast<std::size_t>(count_);
    *at++ = result.sums.empty() ? 0 : 1;
    for (const auto* numbers : {&result.sums, &result.weighted, &result.diagonal}) {
      std::ranges::copy(*numbers, at);
      at += count;
    }
    for (const auto& rows : result.candidates) {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        at[2 * k] = rows[k].size;
        at[2 * k + 1] = static_cast<double>(rows[k].row);
      }
      at += 2 * count;
    }
    std::ranges::copy(result.largest, at);
  }
  /// Only if the tile had been evaluated.
  void unpack(const double* at, std::int64_t rows, std::int64_t columns, std::size_t tile) {
    Result& result = tile_results_[tile];
    const auto count = static_cast<std::size_t>(count_);
    ++at;
    for (auto* numbers : {&result.sums, &result.weighted, &result.diagonal}) {
      numbers->assign(at, at + columns);
      at += count;
    }
    for (auto& candidates : result.candidates) {
      candidates.resize(std::min(static_cast<std::size_t>(rows), count));
      for (std::size_t k = 0; k < candidates.size(); ++k)
        candidates[k] = {at[2 * k], static_cast<std::int64_t>(at[2 * k + 1])};
      at += 2 * count;
    }
    if (!weights_.empty()) result.largest.assign(at, at + rows);
  }

 private:
  struct Row {
    double size = -1;  // the maximum absolute value of its elements
    std::int64_t row = 0;
    /// Larger sizes first; NaN before all others.
    bool operator<(const Row& other) const noexcept {
      const double mine = std::isnan(size) ? HUGE_VAL : size,
                   others = std::isnan(other.size) ? HUGE_VAL : other.size;
      return mine != others ? mine > others : row < other.row;
    }
  };
  /// The result of one tile.
  struct Result {
    std::vector<double> sums;      // per column, of absolute values
    std::vector<double> weighted;  // per column, of absolute values times the weight of the row
    std::vector<double> diagonal;  // second step, per column: the element in the row of its unit vector
    // First step: the rows with the largest elements, in the columns without weights and in the columns with weights.
    std::array<std::vector<Row>, 2> candidates;
    std::vector<double> largest;  // per row, over the columns with weights
  };

  /// The number of vectors without weights. Half of the vectors if there are few: weighted_row_maxima() needs the weighted
  /// ones.
  static std::int64_t plain_vectors_for(std::int64_t n, bool weighted) noexcept {
    return std::min(most_vectors, weighted ? (n + 1) / 2 : n);
  }
  /// The maximum; NaN if either is NaN.
  static double largest_of(double a, double b) noexcept { return std::isnan(a) || a > b ? a : b; }

  bool is_weighted(std::int64_t vector) const noexcept { return vector >= plain_; }
  double weight(std::int64_t row) const noexcept {
    return weights_.empty() ? 1 : weights_[static_cast<std::size_t>(row)];
  }

  /// The first vector of each kind is positive, which suits inverses without negative elements. The second one with
  /// weights has their signs, if any is negative. The others have random signs.
  template <class Tile>
  void fill_signs(Tile& x, const Place& place) const {
    using Real = RealOf<T>;
    std::vector<Real> signs(static_cast<std::size_t>(x.rows()));
    for (int j = 0; j < x.columns(); ++j) {
      GeneratedUniform<Real>(n_, count_, seed)
          .read(place.row, x.rows(), place.column + j, 1, signs.data(), x.rows());
      for (int i = 0; i < x.rows(); ++i) {
        const std::int64_t vector = place.column + j;
        const double weighted = is_weighted(vector) ? weight(place.row + i) : 1;
        const bool positive =
            vector == 0 || vector == plain_ ||
            (directed_ && vector == plain_ + 1 ? weighted >= 0 : signs[static_cast<std::size_t>(i)] >= 0);
        const Real size = static_cast<Real>(std::abs(weighted));
        x(i, j) = positive ? size : -size;
      }
    }
  }
  template <class Tile>
  void fill_units(Tile& x, const Place& place) const {
    for (int j = 0; j < x.columns(); ++j) {
      const std::int64_t one = rows_[static_cast<std::size_t>(place.column + j)];
      for (int i = 0; i < x.rows(); ++i) x(i, j) = place.row + i == one ? T(1) : T(0);
    }
  }

  std::vector<Row> largest(std::vector<Row> rows) const {
    const auto wanted = std::min(rows.size(), static_cast<std::size_t>(count_));
    std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(wanted), std::less<>());
    rows.resize(wanted);
    return rows;
  }

  /// The rows with the largest results of the first step are probably the largest rows of A^-1.
  void choose_rows() {
    rows_.clear();
    const std::vector<Row> plain = candidates(0), weighted = candidates(1);
    take(plain, plain_);
    take(weighted, count_);
    take(plain, count_);
    if (weights_.empty()) return;
    weighted_row_maxima_.assign(static_cast<std::size_t>(n_), 0);
    std::size_t index = 0;
    for (std::int32_t i = 0; i < grid_.rows; ++i)
      for (std::int32_t j = 0; j < grid_.columns; ++j) {
        const std::vector<double>& of_tile = tile_results_[index++].largest;
        double* const at = weighted_row_maxima_.data() + i * grid_.side;
        for (std::size_t k = 0; k < of_tile.size(); ++k) at[k] = largest_of(of_tile[k], at[k]);
      }
  }
  /// The candidates of all tiles, largest first. Adjacent tiles may list the same row.
  std::vector<Row> candidates(std::size_t kind) const {
    std::vector<Row> all;
    for (const Result& result : tile_results_)
      all.insert(all.end(), result.candidates[kind].begin(), result.candidates[kind].end());
    std::ranges::sort(all, std::less<>());
    return all;
  }
  void take(const std::vector<Row>& candidates, std::int64_t most) {
    for (const Row& row : candidates)
      if (std::ssize(rows_) < most && std::ranges::find(rows_, row.row) == rows_.end())
        rows_.push_back(row.row);
  }

  std::vector<double> of_columns(std::vector<double> Result::*numbers) const {
    std::vector<double> sums(static_cast<std::size_t>(count_));
    std::size_t index = 0;
    for (std::int32_t i = 0; i < grid_.rows; ++i)
      for (std::int32_t j = 0; j < grid_.columns; ++j) {
        const std::vector<double>& of_tile = tile_results_[index++].*numbers;
        for (std::size_t k = 0; k < of_tile.size(); ++k)
          sums[static_cast<std::size_t>(j * grid_.side) + k] += of_tile[k];
      }
    return sums;
  }

  static constexpr std::uint64_t seed = 84;

  std::int64_t n_, count_, plain_;  // the first `plain_` of `count_` vectors have no weights
  std::vector<double> weights_;     // per row, from -1 to 1; empty: no weights
  bool directed_ = false;           // whether their signs are those of a vector to try
  double unit_ = 0;                 // scale of the weights
  Grid grid_;
  std::vector<Result> tile_results_;
  std::vector<std::int64_t> rows_;           // of each vector of the second step
  std::vector<double> weighted_row_maxima_;  // see InverseNorm::weighted_row_maxima()
  int steps_ = 0;                            // steps that have started
};

}  // namespace fairlead::linalg
