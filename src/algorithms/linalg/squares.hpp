// Sums of squares without overflow or underflow, and their root: the Euclidean norm.
#pragma once
#include <cmath>
#include <span>

namespace fairlead::linalg {

/// Separate sums for large, medium and small elements (Blue 1978); medium elements are not scaled.
struct Squares {
  // Elements are in this range, or are scaled into it, before they are squared, so that no sum overflows or underflows.
  static constexpr double largest_squared = 0x1p480, least_squared = 0x1p-500;
  static constexpr double to_medium = 0x1p-600;  // factor for large elements; small ones use its inverse

  double large = 0, medium = 0, small = 0;

  void add(double element) noexcept {
    const double size = std::abs(element);
    if (size > largest_squared)
      large += size * to_medium * (size * to_medium);
    else if (size < least_squared)
      small += size / to_medium * (size / to_medium);
    else
      medium += size * size;  // also NaN
  }
  /// In order. A first pass detects large and small elements; without any, this is a plain sum.
  void add(std::span<const double> elements) noexcept {
    int others = 0;
    for (const double element : elements) {
      const double size = std::abs(element);
      others |= static_cast<int>(size > largest_squared) |
                (static_cast<int>(size < least_squared) & static_cast<int>(size > 0));
    }
    if (others != 0)
      for (const double element : elements) add(element);
    else
      for (const double element : elements) medium += element * element;
  }
  double root() const noexcept {
    constexpr double scale = to_medium * to_medium;
    if (std::isnan(medium)) return medium;
    if (large > 0) return std::sqrt(large + medium * scale) / to_medium;
    if (medium > 0) return std::sqrt(medium + small * scale);
    return std::sqrt(small) * to_medium;
  }
};

}  // namespace fairlead::linalg
