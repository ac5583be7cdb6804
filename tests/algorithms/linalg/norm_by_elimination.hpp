// The norm of an inverse that is computed by plain elimination, for tests of estimates.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {

/// || A^-1 || in the infinity norm, by Gauss-Jordan elimination with partial pivoting in the type Wide, long double or
/// complex numbers of it.
template <class Wide, class T>
double norm_of_inverse(const Dense<T>& given) {
  const std::int64_t n = given.rows;
  std::vector<Wide> a(static_cast<std::size_t>(2 * n * n));
  const auto at = [&](std::int64_t i, std::int64_t j) -> Wide& {
    return a[static_cast<std::size_t>(i * 2 * n + j)];
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) at(i, j) = static_cast<Wide>(given(i, j));
    at(i, n + i) = 1;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i)
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    for (std::int64_t j = 0; j < 2 * n; ++j) std::swap(at(k, j), at(pivot, j));
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Wide factor = at(i, k) / at(k, k);
      for (std::int64_t j = k; j < 2 * n; ++j) at(i, j) -= factor * at(k, j);
    }
  }
  double norm = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += std::abs(at(i, n + j) / at(i, i));
    norm = std::max(norm, static_cast<double>(sum));
  }
  return norm;
}

}  // namespace fairlead::linalg::testing
