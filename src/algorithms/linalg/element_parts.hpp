// Complex matrices as two real ones, their real and imaginary parts: residuals of complex systems are computed with the
// accurate sums of real ones. A column of complex numbers is stored as all its real parts, then all its imaginary ones.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/scalar.hpp"

namespace fairlead::linalg {

/// A part of the product of an element of A and one of x: of the real part of A with x, or of the imaginary one with i x.
template <class T>
double part_of_product(T x, int part_of_a, int part) noexcept {
  if constexpr (is_complex_number<T>) {
    const auto re = static_cast<double>(x.real()), im = static_cast<double>(x.imag());
    return part_of_a == 0 ? (part == 0 ? re : im) : (part == 0 ? -im : re);
  } else {
    return static_cast<double>(x);
  }
}

/// Of a column of elements of type X in memory: first all real parts, then all imaginary ones.
template <class X>
void split_parts(double* column, std::int64_t count) {
  if constexpr (is_complex_number<X>) {
    const std::vector<double> interleaved(column, column + 2 * count);
    for (std::int64_t i = 0; i < count; ++i) {
      column[i] = interleaved[static_cast<std::size_t>(2 * i)];
      column[i + count] = interleaved[static_cast<std::size_t>(2 * i + 1)];
    }
  }
}
/// Undoes split_parts().
template <class X>
void join_parts(double* column, std::int64_t count) {
  if constexpr (is_complex_number<X>) {
    const std::vector<double> parts(column, column + 2 * count);
    for (std::int64_t i = 0; i < count; ++i) {
      column[2 * i] = parts[static_cast<std::size_t>(i)];
      column[2 * i + 1] = parts[static_cast<std::size_t>(i + count)];
    }
  }
}
/// An element of a column whose parts are stored apart.
template <class X>
X joined_parts(const double* column, std::int64_t count, std::int64_t index) noexcept {
  if constexpr (is_complex_number<X>)
    return {column[index], column[index + count]};
  else
    return column[index];
}

/// Replaces `count` complex elements of A by their absolute values, as real numbers, and stores their real parts and then
/// their imaginary ones in `parts`. `conjugates`: of A^H instead of A.
inline void split_elements(std::complex<double>* elements, std::int64_t count, double* parts,
                           bool conjugates) {
  double* const sizes = parts_of(elements);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::complex<double> element = elements[i];
    parts[i] = element.real();
    parts[i + count] = conjugates ? -element.imag() : element.imag();
    sizes[i] = magnitude(element);  // in the place of elements that have been read
  }
}

}  // namespace fairlead::linalg
