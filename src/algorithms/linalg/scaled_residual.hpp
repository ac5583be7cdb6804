// Residuals b - A x whose terms may overflow or underflow in double precision. Only columns that need it are scaled:
// they are stored as r x 2^-scale.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/wide_number.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

/// Rows of the residuals of several columns, while products of A and x are subtracted from them.
class ScaledResidual {
 public:
  /// `residual`: b, column-major with leading dimension `rows`; must stay valid, and is modified and scaled.
  ScaledResidual(double* residual, std::int64_t rows, std::int64_t columns)
      : residual_(residual), rows_(rows), columns_(static_cast<std::size_t>(columns)) {
    for (std::int64_t c = 0; c < columns; ++c)
      column(c).exponent = exponent_of(largest_of(residual + c * rows, rows));
  }

  /// Sets the largest absolute value of x in the column; call it once per column.
  void set_x(std::int64_t c, double largest) noexcept { column(c).exponent_of_x = exponent_of(largest); }

  /// Call it before subtracting products with elements of A of at most this size: then no sum overflows, or is so small
  /// that it loses digits.
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
  /// An element of x in the column, scaled for the product.
  double scaled(std::int64_t c, double x) const noexcept {
    const int scale = columns_[static_cast<std::size_t>(c)].scale;
    return scale == 0 ? x : std::ldexp(x, -scale);
  }
  /// The absolute value of an element of the residual.
  WideNumber element(std::int64_t row, std::int64_t c) const noexcept {
    return WideNumber(std::abs(residual_[row + c * rows_]), scale(c));
  }
  /// The stored values of the column are the residual x 2^-scale.
  int scale(std::int64_t c) const noexcept { return columns_[static_cast<std::size_t>(c)].scale; }
  /// The largest absolute value of the residual in the column.
  WideNumber norm(std::int64_t c) const noexcept {
    return WideNumber(largest_of(residual_ + c * rows_, rows_), columns_[static_cast<std::size_t>(c)].scale);
  }
  /// Copies a column without scaling; elements that overflow become infinite.
  void copy(std::int64_t c, double* to) const noexcept {
    const int scale = columns_[static_cast<std::size_t>(c)].scale;
    for (std::int64_t i = 0; i < rows_; ++i)
      to[i] = scale == 0 ? residual_[i + c * rows_] : std::ldexp(residual_[i + c * rows_], scale);
  }

  /// The largest absolute value; NaN if one is NaN.
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
  // Sums between 2^least and 2^most are not scaled.
  static constexpr int most = 990, least = -900;
  static constexpr int of_sum = 14;           // the exponent of the number of terms in a sum
  static constexpr int of_zero = -(1 << 20);  // less than every exponent
  struct Column {
    int exponent = of_zero;  // of the largest term so far
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

/// The largest absolute value of real or complex numbers; NaN if one is NaN.
template <class X>
double largest_magnitude(const X* numbers, std::int64_t count) {
  if constexpr (is_complex_number<X>) {
    double largest = 0;
    for (std::int64_t i = 0; i < count; ++i) largest = larger(largest, magnitude(numbers[i]));
    return largest;
  } else {
    return ScaledResidual::largest_of(numbers, count);
  }
}

}  // namespace fairlead::linalg
