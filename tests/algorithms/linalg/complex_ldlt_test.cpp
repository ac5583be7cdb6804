// Complex indefinite factorizations, of Hermitian matrices and of symmetric ones with A = A^T, compared with the products
// of their factors and with elimination, by plain loops in long double.
#include <fairlead/ldlt.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/linalg/complex_world.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing::complex_numbers {
namespace {

constexpr Symmetry both_kinds[] = {Symmetry::hermitian, Symmetry::symmetric};

template <class T>
T image_of(T x, Symmetry kind) {
  return kind == Symmetry::hermitian ? std::conj(x) : x;
}

/// Of numbers in (-1, 1): about half of the eigenvalues of a Hermitian one are negative.
template <class T>
Dense<T> indefinite_matrix(std::int64_t n, Symmetry kind, std::uint64_t seed) {
  Dense<T> a = random_matrix<T>(n, n, seed);
  for (std::int64_t j = 0; j < n; ++j) {
    if (kind == Symmetry::hermitian) a(j, j) = a(j, j).real();
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = image_of(a(j, i), kind);
  }
  return a;
}

template <class T>
struct ComplexLdlt {
  Dense<T> factors, x;
  LogDeterminant determinant{};
  Inertia inertia{};
  std::vector<std::int32_t> pivots{};
};

template <class T>
ComplexLdlt<T> factored_ldlt(Dense<T> a, Symmetry kind, const Dense<T>& b, std::int32_t tile,
                             const Setting& setting = {}) {
  Runtime runtime(config_of(setting));
  ComplexLdlt<T> result{.factors = {}, .x = b};
  const std::int64_t n = a.rows;
  const auto tiled = runtime.tiled<T>("A", n, n, tile, Tiles::lower);
  const auto x = runtime.tiled_in_place<T>("x", result.x.elements.data(), n, b.columns, n, tile);
  const SymmetricPivots<T> p(runtime, tiled, nullptr, kind);
  Flow flow(runtime);
  // Only the lower triangle may be used.
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::numeric_limits<typename T::value_type>::quiet_NaN();
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(std::move(a)), tiled, Tiles::lower);
  factor_ldlt(flow, kernels(), tiled, p);
  solve_ldlt_factored(flow, kernels(), tiled, p, x);
  wait_for_results(flow);
  result.determinant = ldlt_determinant(flow, p, tiled);
  if (kind == Symmetry::hermitian) result.inertia = ldlt_inertia(flow, kernels(), tiled);
  for (std::int32_t k = 0; k + 1 < tiled.tile_columns(); ++k) {
    const auto hold = flow.acquire(read(p.panel(k)));
    const auto panel = hold.template get<0>();
    for (std::int64_t i = 0; i < panel.size(); ++i) result.pivots.push_back(panel(i));
  }
  result.factors = fetch(flow, tiled, Tiles::lower);
  return result;
}

/// || P^T A P - L T op(L) || / (n || A || eps).
template <class T>
double ldlt_residual(Dense<T> a, Symmetry kind, const ComplexLdlt<T>& of, std::int32_t tile) {
  const std::int64_t n = a.rows;
  for (std::size_t s = 0; s < of.pivots.size(); ++s) {
    const std::int64_t i = tile + static_cast<std::int64_t>(s), j = of.pivots[s] - 1;
    for (std::int64_t k = 0; k < n; ++k) std::swap(a(i, k), a(j, k));
    for (std::int64_t k = 0; k < n; ++k) std::swap(a(k, i), a(k, j));
  }
  Dense<Wide> l{n, n, std::vector<Wide>(static_cast<std::size_t>(n * n))}, t = l, left = l;
  for (std::int64_t j = 0; j < n; ++j) {
    l(j, j) = 1;
    for (std::int64_t i = j; i < n; ++i) {
      const Wide element = wide(of.factors(i, j));
      if (i / tile == j / tile || (i / tile == j / tile + 1 && i % tile <= j % tile)) {
        t(i, j) = element;
        t(j, i) = image_of(element, kind);
      } else if (j + tile < n) {
        l(i, j + tile) = element;
        EXPECT_LE(std::abs(element), 1.5L);  // pivots are the largest by the sum of their parts
      }
    }
    if (kind == Symmetry::hermitian) {
      EXPECT_EQ(t(j, j).imag(), 0);
    }
  }
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t i = k; i < n; ++i) left(i, j) += l(i, k) * t(k, j);
  return product_error(
      a, [&](std::int64_t i, std::int64_t k) { return left(i, k); },
      [&](std::int64_t k, std::int64_t j) { return j >= k ? image_of(l(j, k), kind) : Wide(0); });
}

/// The phase of the determinant, and the logarithm of its absolute value, by elimination with pivoting.
template <class T>
std::pair<Wide, long double> determinant_by_elimination(const Dense<T>& given) {
  const std::int64_t n = given.rows;
  Dense<Wide> a{n, n};
  for (const T& element : given.elements) a.elements.push_back(wide(element));
  std::pair<Wide, long double> found{1, 0};
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    if (pivot != k) found.first = -found.first;
    for (std::int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
    found.first *= a(k, k) / std::abs(a(k, k));
    found.second += std::log(std::abs(a(k, k)));
    for (std::int64_t i = k + 1; i < n; ++i) {
      const Wide by = a(i, k) / a(k, k);
      for (std::int64_t j = k; j < n; ++j) a(i, j) -= by * a(k, j);
    }
  }
  return found;
}

template <class T>
class ComplexLdltOf : public ::testing::Test {};
TYPED_TEST_SUITE(ComplexLdltOf, ComplexTypes);

TYPED_TEST(ComplexLdltOf, BothKindsAreTheProductOfTheirFactorsAndSolve) {
  using T = TypeParam;
  for (const Symmetry kind : both_kinds)
    for (const auto& [n, tile, memory] : {std::tuple(1, 4, plenty),
                                          {2, 4, plenty},
                                          {16, 16, plenty},
                                          {17, 16, plenty},
                                          {33, 16, plenty},
                                          {61, 12, plenty},
                                          {130, 16, Bytes{1} << 19}}) {
      const auto a = indefinite_matrix<T>(n, kind, 5), b = random_matrix<T>(n, n % 3 == 1 ? 1 : 20, 6);
      const auto found = factored_ldlt(a, kind, b, tile, {.memory = memory});
      EXPECT_LT(ldlt_residual(a, kind, found, tile), 10) << n;
      EXPECT_LT(residual_of(found.x, b, [&](std::int64_t i, std::int64_t j) { return wide(a(i, j)); }), 60)
          << n;
      const auto [phase, log_absolute] = determinant_by_elimination(a);
      const double close = 1e4 * static_cast<double>(std::numeric_limits<typename T::value_type>::epsilon());
      EXPECT_NEAR(found.determinant.log_absolute, static_cast<double>(log_absolute), close) << n;
      EXPECT_LT(std::abs(found.determinant.phase - std::complex<double>(phase)), close) << n;
      EXPECT_EQ(found.determinant.sign, 1);
      if (kind == Symmetry::hermitian) {
        EXPECT_EQ(found.determinant.phase.imag(), 0);
      }
    }
}

TYPED_TEST(ComplexLdltOf, TheInertiaIsThatOfACongruentDiagonal) {
  using T = TypeParam;
  // A = M D M^H has as many eigenvalues of each sign as D.
  for (const auto& [n, tile, negative] : {std::tuple(1, 4, 1), {20, 8, 0}, {50, 16, 17}, {75, 16, 74}}) {
    auto m = random_matrix<T>(n, n, 9);
    for (std::int64_t i = 0; i < n; ++i) m(i, i) += T(static_cast<typename T::value_type>(n));
    Dense<T> a{n, n, std::vector<T>(static_cast<std::size_t>(n * n))};
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i) {
        Wide sum = 0;
        for (std::int64_t k = 0; k < n; ++k)
          sum += wide(m(i, k)) * (k < negative ? -1.0L : 1.0L) * std::conj(wide(m(j, k)));
        a(i, j) = T(sum);
        a(j, i) = std::conj(a(i, j));
      }
    const auto found = factored_ldlt(a, Symmetry::hermitian, random_matrix<T>(n, 1, 6), tile);
    EXPECT_EQ(found.inertia, (Inertia{n - negative, negative, 0})) << n;
    EXPECT_EQ(found.determinant.phase.real(), negative % 2 == 0 ? 1 : -1);
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing::complex_numbers
