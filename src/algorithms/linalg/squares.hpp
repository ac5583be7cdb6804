// Sums of squares of numbers of any size, and their root: the two norm without overflow.
#pragma once
#include <cmath>
#include <span>

namespace fairlead::linalg {

/// The sums of squares of elements by their size (Blue 1978); those that are neither large nor small are not scaled.
struct Squares {
  // What is squared is between these, or is scaled to be: so no sum overflows or vanishes.
  static constexpr double largest_squared = 0x1p480, least_squared = 0x1p-500;
  static constexpr double to_medium = 0x1p-600;  // from the large; from the small its inverse

  double large = 0, medium = 0, small = 0;

  void add(double element) noexcept {
    const double size = std::abs(element);
    if (size > largest_squared)
      large += size * to_medium * (size * to_medium);
    else if (size < least_squared)
      small += size / to_medium * (size / to_medium);
    else
      medium += size * size;  // or it is not a number
  }
  /// In order. Where none is large or small, which is seen at once, that is a plain sum.
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
    constexpr double beside = to_medium * to_medium;
    if (std::isnan(medium)) return medium;
    if (large > 0) return std::sqrt(large + medium * beside) / to_medium;
    if (medium > 0) return std::sqrt(medium + small * beside);
    return std::sqrt(small) * to_medium;
  }
};

}  // namespace fairlead::linalg
