// Scales right-hand sides whose numbers are near the limits of the type's range, so that the sums and products of a
// solve neither overflow nor lose digits; scales the solutions back.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/scalar.hpp"

namespace fairlead::linalg {

template <class T>
class ColumnScales {
 public:
  /// Scales the columns that need it by powers of two. `elements`: column-major with leading dimension `rows`.
  ColumnScales(T* elements, std::int64_t rows, std::int64_t columns) : rows_(rows * parts_of_number<T>) {
    Real* const x = parts_of(elements);
    for (std::int64_t c = 0; c < columns; ++c) {
      Real largest = 0;
      for (std::int64_t i = 0; i < rows_; ++i) largest = std::max(largest, std::abs(x[i + c * rows_]));
      if (largest == 0 || !std::isfinite(largest)) continue;
      int exponent = 0;
      static_cast<void>(std::frexp(largest, &exponent));
      const int wanted = std::clamp(exponent, -target_exponent, target_exponent);
      if (std::abs(exponent) <= limit_exponent) continue;
      scaled_.push_back({c, wanted - exponent});
      scale(x, rows_, scaled_.back().column, scaled_.back().by);
    }
  }
  /// Scales the same columns of the solution back; its number of rows may differ from that of x.
  void undo(T* x) const { undo(x, rows_ / parts_of_number<T>); }
  void undo(T* x, std::int64_t rows) const {
    for (const auto& [column, by] : scaled_) scale(parts_of(x), rows * parts_of_number<T>, column, -by);
  }

 private:
  using Real = RealOf<T>;
  // No element of an inverse exceeds 2^1074 (2^149 for float), so the scaled solutions do not overflow.
  static constexpr int target_exponent = std::is_same_v<Real, float> ? 40 : 500;
  static constexpr int limit_exponent = std::is_same_v<Real, float> ? 100 : 900;
  struct Scaled {
    std::int64_t column;
    int by;  // exponent of the factor
  };
  static void scale(Real* x, std::int64_t rows, std::int64_t column, int by) {
    for (Real* p = x + column * rows; p != x + (column + 1) * rows; ++p) *p = std::ldexp(*p, by);
  }

  std::int64_t rows_;  // numbers in a column: parts of complex elements
  std::vector<Scaled> scaled_;
};

}  // namespace fairlead::linalg
