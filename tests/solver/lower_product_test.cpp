// Products with the L of a Cholesky factorization: L L^H is the matrix, for each type of elements, in memory and out of core.
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "solver/factor_systems.hpp"
#include "temporary_directory.hpp"

namespace fairlead::linalg {
namespace {

using tests::DenseSystem;
using tests::factor_options;
using tests::load_options;
using tests::TemporaryDirectory;

/// Hermitian and diagonally dominant; the parts of its elements are below 1.
template <class T>
std::vector<T> definite_matrix(std::int64_t n) {
  const DenseSystem<double> parts = tests::random_system<double>(n, n, n, 11);
  std::vector<T> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      T element(static_cast<RealOf<T>>(parts.at(i, j) + (i == j ? 2 * n : 0)));
      if constexpr (is_complex_number<T>)
        if (i != j) element.imag(static_cast<RealOf<T>>(parts.right(i, j)));
      a[static_cast<std::size_t>(i + j * n)] = element;
      a[static_cast<std::size_t>(j + i * n)] = conjugate(element);
    }
  return a;
}

template <class T>
std::vector<T> identity_matrix(std::int64_t n) {
  std::vector<T> z(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) z[static_cast<std::size_t>(i * (n + 1))] = 1;
  return z;
}

template <class T>
class LowerProduct : public testing::Test {};
using AllElements = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LowerProduct, AllElements);

TYPED_TEST(LowerProduct, OfTheIdentityIsTheTriangleThatReproducesTheMatrix) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 15, 16, 17, 50}) {
    const std::vector<T> a = definite_matrix<T>(n);
    Solver solver(factor_options(Method::cholesky));
    Factorization factors = solver.factor(MatrixView<T>{.elements = a.data(), .rows = n, .columns = n});
    const std::vector<T> z = identity_matrix<T>(n), l = factors.multiply_lower(std::span<const T>(z), n);
    const auto at = [n](const std::vector<T>& m, std::int64_t i, std::int64_t j) {
      return m[static_cast<std::size_t>(i + j * n)];
    };
    double worst = 0;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_TRUE(i >= j || at(l, i, j) == T(0)) << n;
        std::complex<double> sum = 0;
        for (std::int64_t k = 0; k < n; ++k)
          sum += std::complex<double>(at(l, i, k)) * std::conj(std::complex<double>(at(l, j, k)));
        worst = std::max(worst, std::abs(sum - std::complex<double>(at(a, i, j))));
      }
    EXPECT_LT(worst, 20 * static_cast<double>(n) * epsilon_of_scalar<T>) << n;
  }
}

// Columns of any number, also as a draw of one.
TYPED_TEST(LowerProduct, OfSeveralColumnsAreThoseOfEach) {
  using T = TypeParam;
  constexpr std::int64_t n = 37, columns = 41;
  const std::vector<T> a = definite_matrix<T>(n);
  std::vector<T> z(n * columns);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = a[i * 7 % a.size()];
  Solver solver(factor_options(Method::cholesky));
  Factorization factors = solver.factor(MatrixView<T>{.elements = a.data(), .rows = n, .columns = n});
  const std::vector<T> together = factors.multiply_lower(std::span<const T>(z), columns);
  for (std::int64_t c = 0; c < columns; ++c) {
    const std::vector<T> alone = factors.multiply_lower(std::span<const T>(z.data() + c * n, n));
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(
          magnitude(together[static_cast<std::size_t>(i + c * n)] - alone[static_cast<std::size_t>(i)]), 0,
          100 * n * epsilon_of_scalar<T>);
  }
}

TYPED_TEST(LowerProduct, IsTheSameOutOfCoreAndFromAFile) {
  using T = TypeParam;
  constexpr std::int64_t n = 700;
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "A.factor";
  const std::vector<T> a = definite_matrix<T>(n);
  const std::vector<T> z(a.begin(), a.begin() + 3 * n);
  const std::span<const T> columns = z;
  const MatrixView<T> view{.elements = a.data(), .rows = n, .columns = n};
  Solver in_core(factor_options(Method::cholesky, 64_MiB, 64));
  Factorization made = in_core.factor(view);
  made.save(path);
  const std::vector<T> expected = made.multiply_lower(columns, 3);
  Solver small(factor_options(Method::cholesky, sizeof(T) * n * n / 4 + 5_MiB, 64));
  EXPECT_EQ(small.factor(view).multiply_lower(columns, 3), expected);
  EXPECT_EQ(load_factorization(path, load_options(2_MiB)).multiply_lower(columns, 3), expected);
}

TEST(LowerProductOfReals, AcceptsComplexColumns) {
  constexpr std::int64_t n = 20;
  const std::vector<double> a = definite_matrix<double>(n);
  Solver solver(factor_options(Method::cholesky));
  Factorization factors = solver.factor(MatrixView<double>{.elements = a.data(), .rows = n, .columns = n});
  std::vector<double> real(a.begin(), a.begin() + n), imaginary(a.begin() + n, a.begin() + 2 * n);
  std::vector<std::complex<double>> z;
  for (std::size_t i = 0; i < n; ++i) z.emplace_back(real[i], imaginary[i]);
  real = factors.multiply_lower(std::span<const double>(real));
  imaginary = factors.multiply_lower(std::span<const double>(imaginary));
  const auto both = factors.multiply_lower(std::span<const std::complex<double>>(z));
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(both[i].real(), real[i], 1e-12);
    EXPECT_NEAR(both[i].imag(), imaginary[i], 1e-12);
  }
}

TEST(LowerProductOfReals, RefusesOtherMethodsAndSizes) {
  constexpr std::int64_t n = 20;
  const std::vector<double> a = definite_matrix<double>(n), z(n, 1.0);
  const MatrixView<double> view{.elements = a.data(), .rows = n, .columns = n};
  for (const Method method : tests::every_method()) {
    if (method == Method::cholesky) continue;
    Solver solver(factor_options(method));
    const DenseSystem<double> system = tests::system_for<double>(method, n, 1, 7);
    Factorization factors = solver.factor(tests::view_of(system));
    EXPECT_THROW(factors.multiply_lower(z), UsageError) << name_of(method);
    EXPECT_NO_THROW(factors.solve(z));  // also afterwards
  }
  Solver solver(factor_options(Method::cholesky));
  Factorization factors = solver.factor(view);
  EXPECT_THROW(factors.multiply_lower(z, 2), UsageError);
  EXPECT_THROW(factors.multiply_lower(z, 0), UsageError);
  std::vector<double> not_finite = z;
  not_finite[3] = std::nan("");
  EXPECT_THROW(factors.multiply_lower(not_finite), NumericalError);
}

}  // namespace
}  // namespace fairlead::linalg
