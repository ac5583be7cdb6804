// Dense systems by seed, and their solutions by elimination in long double.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace fairlead::tests {

/// Column-major.
template <class T>
struct DenseSystem {
  std::int64_t rows = 0, columns = 0, sides = 1;
  std::vector<T> a, b;

  T& at(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i + j * rows)]; }
  T at(std::int64_t i, std::int64_t j) const { return a[static_cast<std::size_t>(i + j * rows)]; }
  T right(std::int64_t i, std::int64_t c) const { return b[static_cast<std::size_t>(i + c * rows)]; }
};

/// Uniform in (-1, 1).
template <class T>
DenseSystem<T> random_system(std::int64_t rows, std::int64_t columns, std::int64_t sides, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  DenseSystem<T> system{rows, columns, sides, {}, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i) system.a.push_back(static_cast<T>(uniform(random)));
  for (std::int64_t i = 0; i < rows * sides; ++i) system.b.push_back(static_cast<T>(uniform(random)));
  return system;
}

/// Diagonally dominant: every method suits.
template <class T>
DenseSystem<T> dominant_system(std::int64_t n, std::int64_t sides, unsigned seed) {
  DenseSystem<T> system = random_system<T>(n, n, sides, seed);
  for (std::int64_t i = 0; i < n; ++i) system.at(i, i) += static_cast<T>(n);
  return system;
}

/// The same, with the lower triangle mirrored.
template <class T>
DenseSystem<T> symmetric_system(std::int64_t n, std::int64_t sides, unsigned seed) {
  DenseSystem<T> system = dominant_system<T>(n, sides, seed);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j + 1; i < n; ++i) system.at(j, i) = system.at(i, j);
  return system;
}

/// 1 / (i + j + 1): positive definite, with a condition of about e^(3.5 n).
inline DenseSystem<double> hilbert_system(std::int64_t n) {
  DenseSystem<double> system{n, n, 1, std::vector<double>(static_cast<std::size_t>(n * n)),
                             std::vector<double>(static_cast<std::size_t>(n), 1.0)};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) system.at(i, j) = 1.0 / static_cast<double>(i + j + 1);
  return system;
}

/// The solution by elimination with partial pivoting in long double. With more rows than columns: of the normal
/// equations, which long double suffices for if the matrix is well conditioned.
template <class T>
std::vector<double> exact_solution(const DenseSystem<T>& system) {
  const std::int64_t n = system.columns, sides = system.sides;
  std::vector<long double> a(static_cast<std::size_t>(n * n)), x(static_cast<std::size_t>(n * sides));
  const auto at = [&](std::int64_t i, std::int64_t j) -> long double& {
    return a[static_cast<std::size_t>(i + j * n)];
  };
  const auto of = [&](std::int64_t i, std::int64_t c) -> long double& {
    return x[static_cast<std::size_t>(i + c * n)];
  };
  const bool square = system.rows == n;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      at(i, j) = square ? static_cast<long double>(system.at(i, j)) : 0.0L;
      for (std::int64_t k = 0; !square && k < system.rows; ++k)
        at(i, j) += static_cast<long double>(system.at(k, i)) * static_cast<long double>(system.at(k, j));
    }
    for (std::int64_t c = 0; c < sides; ++c) {
      of(i, c) = square ? static_cast<long double>(system.right(i, c)) : 0.0L;
      for (std::int64_t k = 0; !square && k < system.rows; ++k)
        of(i, c) += static_cast<long double>(system.at(k, i)) * static_cast<long double>(system.right(k, c));
    }
  }
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    for (std::int64_t j = 0; j < n; ++j) std::swap(at(k, j), at(pivot, j));
    for (std::int64_t c = 0; c < sides; ++c) std::swap(of(k, c), of(pivot, c));
    for (std::int64_t i = k + 1; i < n; ++i) {
      const long double factor = at(i, k) / at(k, k);
      for (std::int64_t j = k; j < n; ++j) at(i, j) -= factor * at(k, j);
      for (std::int64_t c = 0; c < sides; ++c) of(i, c) -= factor * of(k, c);
    }
  }
  for (std::int64_t c = 0; c < sides; ++c)
    for (std::int64_t i = n - 1; i >= 0; --i) {
      for (std::int64_t j = i + 1; j < n; ++j) of(i, c) -= at(i, j) * of(j, c);
      of(i, c) /= at(i, i);
    }
  return {x.begin(), x.end()};
}

/// The largest difference, relative to the largest element; not a number if an element is not.
template <class T>
double relative_difference(const std::vector<T>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return HUGE_VAL;
  double size = 0, difference = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    size = std::max(size, std::abs(expected[i]));
    const double one = std::abs(static_cast<double>(found[i]) - expected[i]);
    difference = std::isnan(one) || one > difference ? one : difference;
  }
  return size > 0 ? difference / size : difference;
}

/// || b - A x || / (|| A || || x || + || b ||) in the infinity norm, for square systems: the largest over the columns,
/// with residuals in long double.
template <class T>
double backward_error_of(const DenseSystem<T>& system, const std::vector<T>& x) {
  const std::int64_t n = system.rows;
  long double worst = 0;
  for (std::int64_t c = 0; c < system.sides; ++c) {
    long double residual = 0, norm = 0, size = 0, right = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      auto left = static_cast<long double>(system.right(i, c));
      long double row = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto element = static_cast<long double>(system.at(i, j));
        left -= element * static_cast<long double>(x[static_cast<std::size_t>(j + c * n)]);
        row += std::abs(element);
      }
      residual = std::max(residual, std::abs(left));
      norm = std::max(norm, row);
      size = std::max(size, std::abs(static_cast<long double>(x[static_cast<std::size_t>(i + c * n)])));
      right = std::max(right, std::abs(static_cast<long double>(system.right(i, c))));
    }
    worst = std::max(worst, residual / (norm * size + right));
  }
  return static_cast<double>(worst);
}

}  // namespace fairlead::tests
