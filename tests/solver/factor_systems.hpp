// Options of the tests of kept factors, and systems for each method.
#pragma once
#include <fairlead/solver.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solver/dense_systems.hpp"
#include "solver/solver_options.hpp"

namespace fairlead::tests {

/// All methods: those of the solver's table.
inline std::vector<linalg::Method> every_method() {
  std::vector<linalg::Method> methods;
  for (const solver::DenseOperation* const one : solver::all_methods()) methods.push_back(one->solve->method);
  return methods;
}
inline solver::MatrixKind matrices_of(linalg::Method method) {
  return solver::operation_of(method)->solve->matrices;
}
inline bool is_symmetric(linalg::Method method) { return solver::operation_of(method)->solve->symmetric; }

/// A well-conditioned system that the method suits, without row exchanges.
template <class T>
DenseSystem<T> plain_system_for(linalg::Method method, std::int64_t n, std::int64_t sides, unsigned seed) {
  if (is_symmetric(method)) return symmetric_system<T>(n, sides, seed);
  DenseSystem<T> system = dominant_system<T>(n, sides, seed);
  for (std::int64_t j = 0; j < n && matrices_of(method) == solver::MatrixKind::triangular; ++j)
    for (std::int64_t i = 0; i < j; ++i) system.at(i, j) = 0;
  return system;
}

inline linalg::SolverOptions factor_options(linalg::Method method, Bytes memory = 64_MiB,
                                            std::int32_t tile = 16) {
  return {.memory = memory, .method = method, .tile = tile, .workers = 2, .config = Config()};
}
inline linalg::SolverOptions load_options(Bytes memory = 64_MiB) {
  return {.memory = memory, .workers = 2, .config = Config()};
}

/// A system that the method suits; with row exchanges where it makes them.
template <class T>
DenseSystem<T> system_for(linalg::Method method, std::int64_t n, std::int64_t sides, unsigned seed) {
  using solver::MatrixKind;
  const MatrixKind kind = matrices_of(method);
  if (kind != MatrixKind::general) {
    DenseSystem<T> system = plain_system_for<T>(method, n, sides, seed);
    // The large elements go to the other diagonal, so that the matrix is indefinite.
    for (std::int64_t i = 0; i < n && kind == MatrixKind::symmetric; ++i) {
      system.at(i, i) -= static_cast<T>(n);
      system.at(i, n - 1 - i) += static_cast<T>(n);
    }
    return system;
  }
  // The rows of a dominant system, in reverse.
  DenseSystem<T> system = dominant_system<T>(n, sides, seed);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n / 2; ++i) std::swap(system.at(i, j), system.at(n - 1 - i, j));
  return system;
}

template <class T>
linalg::MatrixView<T> view_of(const DenseSystem<T>& system) {
  return {.elements = system.a.data(), .rows = system.rows, .columns = system.columns};
}

template <class T>
DenseSystem<T> transposed(const DenseSystem<T>& system) {
  DenseSystem<T> other = system;
  for (std::int64_t j = 0; j < system.columns; ++j)
    for (std::int64_t i = 0; i < system.rows; ++i) other.at(j, i) = system.at(i, j);
  return other;
}

/// By elimination with partial pivoting in long double.
template <class T>
linalg::LogDeterminant exact_determinant(const DenseSystem<T>& system) {
  const std::int64_t n = system.rows;
  std::vector<long double> a(system.a.begin(), system.a.end());
  const auto at = [&](std::int64_t i, std::int64_t j) -> long double& {
    return a[static_cast<std::size_t>(i + j * n)];
  };
  linalg::LogDeterminant found{.sign = 1, .log_absolute = 0};
  long double sum = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    if (pivot != k) found.sign = -found.sign;
    for (std::int64_t j = 0; j < n; ++j) std::swap(at(k, j), at(pivot, j));
    if (at(k, k) < 0) found.sign = -found.sign;
    sum += std::log(std::abs(at(k, k)));
    for (std::int64_t i = k + 1; i < n; ++i) {
      const long double factor = at(i, k) / at(k, k);
      for (std::int64_t j = k; j < n; ++j) at(i, j) -= factor * at(k, j);
    }
  }
  found.log_absolute = static_cast<double>(sum);
  return found;
}

}  // namespace fairlead::tests
