// Residuals for several right-hand sides. A few are summed one by one (residual_sums.hpp). For many, BLAS multiplies by
// a few columns of the matrix at a time, which is faster, and the products are added with compensation.
#pragma once
#include <fairlead/linalg.hpp>

#include <algorithm>
#include <cstdint>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/residual_sums.hpp"

namespace fairlead::linalg {

/// Columns in memory with leading dimension `ld`.
template <class X>
struct Columns {
  X* elements;
  std::int64_t ld;
};

inline constexpr int columns_of_product = 16;  // columns of the matrix per product
inline constexpr int few_sides = 8;

/// r + left_out := r + left_out - A x for `columns` columns of x and r. `left_out` and `products`, which is scratch
/// memory, have as many rows as the strip.
inline void subtract_products(const Kernels& kernels, const Strip& a, Columns<const double> x, int columns,
                              double* products, Columns<double> r, double* compensation) {
  if (columns <= few_sides) {
    for (std::int64_t c = 0; c < columns; ++c)
      subtract_product(a, x.elements + c * x.ld, r.elements + c * r.ld, compensation + c * a.rows);
    return;
  }
  const Transpose op = a.by_rows ? Transpose::yes : Transpose::no;
  for (int k = 0; k < a.columns; k += columns_of_product) {
    const int summed = std::min(columns_of_product, a.columns - k);
    const double* const some = a.elements + (a.by_rows ? k : static_cast<std::int64_t>(k) * a.rows);
    kernels.blas().gemm<double>(op, Transpose::no, a.rows, columns, summed, 1, some,
                                a.by_rows ? a.columns : a.rows, x.elements + k, static_cast<int>(x.ld), 0,
                                products, a.rows);
    for (std::int64_t y = 0; y < columns; ++y)
      for (std::int64_t i = 0; i < a.rows; ++i)
        add_exactly(-products[y * a.rows + i], r.elements[i + y * r.ld], compensation[y * a.rows + i]);
  }
}

/// The maximum error of a residual, in roundings of |A| |x| + |b|, if it is summed in strips of `width` columns for
/// `sides` right-hand sides, and left_out is added after each strip.
inline double roundings_of_residual_in(std::int64_t columns, std::int64_t width, std::int64_t sides) {
  const std::int64_t of_product = std::min<std::int64_t>(columns, columns_of_product) + 1;
  const std::int64_t of_strip =
      sides <= few_sides ? roundings_of_product : std::max<std::int64_t>(of_product, roundings_of_product);
  // One rounding per strip, and one for terms of second order.
  return static_cast<double>(of_strip + (columns + width - 1) / width + 1);
}

}  // namespace fairlead::linalg
