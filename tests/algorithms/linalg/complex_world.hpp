// Shared by the tests of complex matrices: random and Hermitian ones, and residuals by plain loops in long double.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing::complex_numbers {

using Wide = std::complex<long double>;

template <class T>
Wide wide(T x) {
  return {static_cast<long double>(x.real()), static_cast<long double>(x.imag())};
}

template <class T>
Dense<T> random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  using Part = typename T::value_type;
  const auto re = dense<Part>(GeneratedUniform<Part>(rows, columns, seed)),
             im = dense<Part>(GeneratedUniform<Part>(rows, columns, seed + 1000));
  Dense<T> a{rows, columns};
  for (std::size_t i = 0; i < re.elements.size(); ++i)
    a.elements.emplace_back(re.elements[i], im.elements[i]);
  return a;
}

/// Hermitian, and definite by its diagonal.
template <class T>
Dense<T> definite_matrix(std::int64_t n, std::uint64_t seed) {
  Dense<T> a = random_matrix<T>(n, n, seed);
  for (std::int64_t j = 0; j < n; ++j) {
    a(j, j) = static_cast<typename T::value_type>(2 * n);
    for (std::int64_t i = j + 1; i < n; ++i) a(j, i) = std::conj(a(i, j));
  }
  return a;
}

/// || A - X Y || / (n || A || eps), the largest element, of factors in one matrix.
template <class T, class Left, class Right>
double product_error(const Dense<T>& a, Left left, Right right) {
  long double off = 0, size = 0;
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) {
      Wide sum = 0;
      for (std::int64_t k = 0; k < a.columns; ++k) sum += left(i, k) * right(k, j);
      off = std::max(off, std::abs(wide(a(i, j)) - sum));
      size = std::max(size, std::abs(wide(a(i, j))));
    }
  return static_cast<double>(off / (static_cast<long double>(a.rows) * size)) /
         static_cast<double>(std::numeric_limits<typename T::value_type>::epsilon());
}

/// || b - op(A) x || / (n || A || || x || eps).
template <class T, class Element>
double residual_of(const Dense<T>& x, const Dense<T>& b, Element a) {
  long double off = 0, size = 0;
  for (std::int64_t c = 0; c < b.columns; ++c)
    for (std::int64_t i = 0; i < b.rows; ++i) {
      Wide left = wide(b(i, c));
      for (std::int64_t j = 0; j < b.rows; ++j) {
        left -= a(i, j) * wide(x(j, c));
        size = std::max(size, std::abs(a(i, j)) * std::abs(wide(x(j, c))));
      }
      off = std::max(off, std::abs(left));
    }
  return static_cast<double>(off / (static_cast<long double>(b.rows) * size)) /
         static_cast<double>(std::numeric_limits<typename T::value_type>::epsilon());
}

using ComplexTypes = ::testing::Types<std::complex<float>, std::complex<double>>;

}  // namespace fairlead::linalg::testing::complex_numbers
