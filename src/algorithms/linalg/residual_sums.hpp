// Residuals that are more accurate than a plain sum: products are summed in short groups, and the groups with
// compensation (Blanchard, Higham, Mary 2020, "A class of fast and accurate summation algorithms"). The error of a
// strip is a few roundings of |A| |x| whatever its width; that of a plain sum grows with the width.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

namespace fairlead::linalg {

/// A block of a matrix, stored contiguously by columns, or by rows if `by_rows`.
struct Strip {
  const double* elements;
  int rows, columns;
  bool by_rows;
};

/// hi + lo := hi + lo + value, where hi is the rounded sum and lo its rounding error (Knuth's TwoSum).
inline void add_exactly(double value, double& hi, double& lo) noexcept {
  const double sum = hi + value, of_value = sum - hi;
  lo += (hi - (sum - of_value)) + (value - of_value);
  hi = sum;
}

inline constexpr double unit_roundoff = 0x1p-53;  // of double precision

namespace detail {

constexpr int lanes = 8;
constexpr int deep = 2;  // products per lane in a group, for a strip by rows

constexpr double sum_of(const std::array<double, lanes>& p) noexcept {
  return ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
}

}  // namespace detail

/// The maximum error of a component of subtract_product(), in roundings of |A| |x|: one for a product, the sums within
/// a lane and over the lanes, and one for the sum of hi and lo.
inline constexpr int roundings_of_product = 1 + (detail::deep - 1) + 3 + 1;

/// hi + lo := hi + lo - A x; hi and lo have as many rows as the strip.
inline void subtract_product(const Strip& strip, const double* __restrict x, double* __restrict hi,
                             double* __restrict lo) noexcept {
  using detail::lanes;
  const std::int64_t rows = strip.rows, columns = strip.columns;
  const double* __restrict const a = strip.elements;
  if (strip.by_rows) {
    constexpr std::int64_t group = lanes * detail::deep;
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* __restrict const row = a + i * columns;
      std::int64_t k = 0;
      for (; k + group <= columns; k += group) {
        std::array<double, lanes> sums{};
        for (std::int64_t g = k; g < k + group; g += lanes)
          for (int l = 0; l < lanes; ++l) sums[static_cast<std::size_t>(l)] += row[g + l] * x[g + l];
        add_exactly(-detail::sum_of(sums), hi[i], lo[i]);
      }
      for (; k < columns; ++k) add_exactly(-(row[k] * x[k]), hi[i], lo[i]);
    }
    return;
  }
  std::int64_t k = 0;
  for (; k + lanes <= columns; k += lanes) {
    const double* __restrict const p = a + k * rows;
    const double* const y = x + k;
    for (std::int64_t i = 0; i < rows; ++i)
      add_exactly(-(((p[i] * y[0] + p[i + rows] * y[1]) + (p[i + 2 * rows] * y[2] + p[i + 3 * rows] * y[3])) +
                    ((p[i + 4 * rows] * y[4] + p[i + 5 * rows] * y[5]) +
                     (p[i + 6 * rows] * y[6] + p[i + 7 * rows] * y[7]))),
                  hi[i], lo[i]);
  }
  for (; k < columns; ++k)
    for (std::int64_t i = 0; i < rows; ++i) add_exactly(-(a[i + k * rows] * x[k]), hi[i], lo[i]);
}

/// sums := sums + |A| 1 and products := products + |A| x, for a nonnegative x.
inline void add_sizes(const Strip& strip, const double* __restrict x, double* __restrict sums,
                      double* __restrict products) noexcept {
  using detail::lanes;
  const std::int64_t rows = strip.rows, columns = strip.columns;
  const double* __restrict const a = strip.elements;
  if (strip.by_rows) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* __restrict const row = a + i * columns;
      std::array<double, lanes> of_ones{}, of_x{};
      std::int64_t k = 0;
      for (; k + lanes <= columns; k += lanes)
        for (int l = 0; l < lanes; ++l) {
          const double size = std::abs(row[k + l]);
          of_ones[static_cast<std::size_t>(l)] += size;
          of_x[static_cast<std::size_t>(l)] += size * x[k + l];
        }
      for (; k < columns; ++k) of_ones[0] += std::abs(row[k]), of_x[0] += std::abs(row[k]) * x[k];
      sums[i] += detail::sum_of(of_ones);
      products[i] += detail::sum_of(of_x);
    }
    return;
  }
  for (std::int64_t k = 0; k < columns; ++k)
    for (std::int64_t i = 0; i < rows; ++i) {
      const double size = std::abs(a[i + k * rows]);
      sums[i] += size;
      products[i] += size * x[k];
    }
}

}  // namespace fairlead::linalg
