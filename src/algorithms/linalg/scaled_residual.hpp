// Residuals b - A x whose terms may overflow or vanish in double precision: columns that need it are kept as
// r x 2^scale, and all others as they are.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/linalg/wide_number.hpp"

namespace fairlead::linalg {

/// Some rows of the residuals of several columns, while products of A and x are taken from them.
class ScaledResidual {
 public:
  /// `residual`: b, as many rows as `rows` from a column to the next; it stays, and is scaled.
  ScaledResidual(double* residual, std::int64_t rows, std::int64_t columns)
      : residual_(residual), rows_(rows), columns_(static_cast<std::size_t>(columns)) {
    for (std::int64_t c = 0; c < columns; ++c)
      column(c).exponent = exponent_of(largest_of(residual + c * rows, rows));
  }

  /// The largest element of x in that column, once for each.
  void set_x(std::int64_t c, double largest) noexcept { column(c).exponent_of_x = exponent_of(largest); }

  /// Before products with elements of A that are not larger are taken away: no sum overflows then, and none is
  /// so small that it loses digits.
  void prepare(double largest_of_a) noexcept {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      Column& own = columns_[c];
      own.exponent = std::max(own.exponent, exponent_of(largest_of_a) + own.exponent_of_x + of_sum);
      int scale = 0;
      if (own.exponent > most) scale = own.exponent - most;
      if (own.exponent < least && own.exponent > of_zero / 2)
        scale = std::max(own.exponent - least, own.exponent_of_x - most);
      if (scale == own.scale) continue;
      double* const r = residual_ + static_cast<std::int64_t>(c) * rows_;
      for (std::int64_t i = 0; i < rows_; ++i) r[i] = std::ldexp(r[i], own.scale - scale);
      own.scale = scale;
    }
  }
  /// An element of x in that column, for the product.
  double scaled(std::int64_t c, double x) const noexcept {
    const int scale = columns_[static_cast<std::size_t>(c)].scale;
    return scale == 0 ? x : std::ldexp(x, -scale);
  }
  /// One of a column's residuals: its size.
  WideNumber element(std::int64_t row, std::int64_t c) const noexcept {
    return WideNumber(std::abs(residual_[row + c * rows_]), scale(c));
  }
  /// What is kept of that column is the residual x 2^-scale.
  int scale(std::int64_t c) const noexcept { return columns_[static_cast<std::size_t>(c)].scale; }
  /// The largest of a column's residuals.
  WideNumber norm(std::int64_t c) const noexcept {
    return WideNumber(largest_of(residual_ + c * rows_, rows_), columns_[static_cast<std::size_t>(c)].scale);
  }
  /// A column as it is; what is too large becomes infinite.
  void copy(std::int64_t c, double* to) const noexcept {
    const int scale = columns_[static_cast<std::size_t>(c)].scale;
    for (std::int64_t i = 0; i < rows_; ++i)
      to[i] = scale == 0 ? residual_[i + c * rows_] : std::ldexp(residual_[i + c * rows_], scale);
  }

  /// The size of the largest; NaN if one is.
  template <class T>
  static double largest_of(const T* numbers, std::int64_t count) noexcept {
    double largest = 0;
    bool comparable = true;
    for (std::int64_t i = 0; i < count; ++i) {
      const double size = std::abs(static_cast<double>(numbers[i]));
      comparable &= size == size;
      largest = size > largest ? size : largest;
    }
    return comparable ? largest : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  // Sums between 2^least and 2^most are computed as they are.
  static constexpr int most = 990, least = -900;
  static constexpr int of_sum = 14;           // of as many products as a row has at once
  static constexpr int of_zero = -(1 << 20);  // below every exponent
  struct Column {
    int exponent = of_zero;  // of the largest that was summed
    int exponent_of_x = of_zero;
    int scale = 0;
  };
  static int exponent_of(double size) noexcept {
    if (size == 0 || !std::isfinite(size)) return of_zero;
    int exponent = 0;
    static_cast<void>(std::frexp(size, &exponent));
    return exponent;
  }
  Column& column(std::int64_t c) noexcept { return columns_[static_cast<std::size_t>(c)]; }

  double* residual_;
  std::int64_t rows_;
  std::vector<Column> columns_;
};

}  // namespace fairlead::linalg
