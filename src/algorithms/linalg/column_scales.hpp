// Columns of right-hand sides whose numbers are near the end of a type's range, brought to where sums and products of
// a solve neither overflow nor lose digits; and their solutions brought back.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace fairlead::linalg {

template <class T>
class ColumnScales {
 public:
  /// Scales each of the columns that needs it by a power of two. `x`: `rows` elements from a column to the next.
  ColumnScales(T* x, std::int64_t rows, std::int64_t columns) : rows_(rows) {
    for (std::int64_t c = 0; c < columns; ++c) {
      T largest = 0;
      for (std::int64_t i = 0; i < rows; ++i) largest = std::max(largest, std::abs(x[i + c * rows]));
      if (largest == 0 || !std::isfinite(largest)) continue;
      int exponent = 0;
      static_cast<void>(std::frexp(largest, &exponent));
      const int wanted = std::clamp(exponent, -near, near);
      if (std::abs(exponent) <= far) continue;
      scaled_.push_back({c, wanted - exponent});
      scale(x, scaled_.back().column, scaled_.back().by);
    }
  }
  /// The same columns of the solution, which may have become one of another size.
  void undo(T* x) const {
    for (const auto& [column, by] : scaled_) scale(x, column, -by);
  }

 private:
  // An inverse has no element above 2^1074 (149): solutions of what is scaled do not overflow.
  static constexpr int near = sizeof(T) == sizeof(float) ? 40 : 500;
  static constexpr int far = sizeof(T) == sizeof(float) ? 100 : 900;
  struct Scaled {
    std::int64_t column;
    int by;  // exponent
  };
  void scale(T* x, std::int64_t column, int by) const {
    for (T* p = x + column * rows_; p != x + (column + 1) * rows_; ++p) *p = std::ldexp(*p, by);
  }

  std::int64_t rows_;
  std::vector<Scaled> scaled_;
};

}  // namespace fairlead::linalg
