// Small column-major matrices with padding below each column, and plain loops as the reference for a
// BLAS.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "base/random.hpp"

namespace fairlead::linalg::test {

template <class T>
struct Matrix {
  int rows, columns, ld;
  std::vector<T> elements;

  Matrix(int rows_, int columns_) : rows(rows_), columns(columns_), ld(rows_ + 3) {
    elements.assign(static_cast<std::size_t>(ld) * static_cast<std::size_t>(columns), T(0));
  }
  T* data() { return elements.data(); }
  const T* data() const { return elements.data(); }
  T& operator()(int i, int j) { return elements[static_cast<std::size_t>(i + j * ld)]; }
  const T& operator()(int i, int j) const { return elements[static_cast<std::size_t>(i + j * ld)]; }
};

/// Every element is set, including the padding below the columns, so that invalid reads are detected.
template <class T>
Matrix<T> random_matrix(int rows, int columns, std::uint64_t seed) {
  Matrix<T> matrix(rows, columns);
  Random random(seed);
  for (auto& element : matrix.elements) element = static_cast<T>(random.unit() - 0.5);
  return matrix;
}

/// A well-conditioned triangle; the other triangle has different numbers.
template <class T>
Matrix<T> random_triangle(int n, std::uint64_t seed) {
  auto matrix = random_matrix<T>(n, n, seed);
  for (int i = 0; i < n; ++i) matrix(i, i) += T(4);
  return matrix;
}

template <class T>
Matrix<T> random_positive_definite(int n, std::uint64_t seed) {
  auto matrix = random_matrix<T>(n, n, seed);
  for (int i = 0; i < n; ++i) matrix(i, i) += static_cast<T>(n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) matrix(i, j) = matrix(j, i);
  return matrix;
}

template <class T>
Matrix<T> transposed(const Matrix<T>& a) {
  Matrix<T> result(a.columns, a.rows);
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i) result(j, i) = a(i, j);
  return result;
}

/// The matrix that a triangular routine sees.
template <class T>
Matrix<T> triangle_of(const Matrix<T>& a, Triangle triangle, Diagonal diagonal = Diagonal::general) {
  Matrix<T> result(a.rows, a.columns);
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i)
      if (i == j)
        result(i, j) = diagonal == Diagonal::unit ? T(1) : a(i, j);
      else if ((i > j) == (triangle == Triangle::lower))
        result(i, j) = a(i, j);
  return result;
}

/// The matrix that a symmetric routine sees.
template <class T>
Matrix<T> symmetric_of(const Matrix<T>& a, Triangle triangle) {
  Matrix<T> result(a.rows, a.columns);
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i)
      result(i, j) = (i >= j) == (triangle == Triangle::lower) ? a(i, j) : a(j, i);
  return result;
}

template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> result(a.rows, b.columns);
  for (int j = 0; j < b.columns; ++j)
    for (int i = 0; i < a.rows; ++i) {
      long double sum = 0;
      for (int k = 0; k < a.columns; ++k) sum += static_cast<long double>(a(i, k)) * b(k, j);
      result(i, j) = static_cast<T>(sum);
    }
  return result;
}

/// alpha A + beta B.
template <class T>
Matrix<T> sum(T alpha, const Matrix<T>& a, T beta, const Matrix<T>& b) {
  Matrix<T> result(a.rows, a.columns);
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i) result(i, j) = alpha * a(i, j) + beta * b(i, j);
  return result;
}

/// The largest difference of two elements, in units of rounding times the order.
template <class T>
double difference(const Matrix<T>& a, const Matrix<T>& b) {
  double largest = 0;
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i) {
      const double d = std::abs(static_cast<double>(a(i, j)) - static_cast<double>(b(i, j)));
      largest = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(largest, d);
    }
  return largest / (std::numeric_limits<T>::epsilon() * std::max(a.rows, a.columns));
}

}  // namespace fairlead::linalg::test
