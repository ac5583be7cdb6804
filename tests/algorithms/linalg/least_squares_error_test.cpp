// The error measures that distinguish an accurate least squares solution from a wrong one, for systems whose residual is
// large, small and zero, with Q by Fairlead.
#include <fairlead/qr.hpp>

#include <gtest/gtest.h>

#include "algorithms/linalg/least_squares_error.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"

namespace fairlead::linalg::testing {
namespace {

struct Judged {
  double error, residual, excess;
};

/// A x = b + `left` * noise; x solved by Fairlead and then off by `spoilt` of its size, in the direction in which A is
/// smallest. A has the columns 1, 10^-grade / n, ..., 10^-grade times random ones, all times `size`; b likewise.
template <class T>
Judged judged(std::int64_t m, std::int64_t n, double left, double grade, double spoilt, double size = 1,
              std::int32_t tile = 16) {
  Runtime runtime(config_of({}));
  auto given = dense<T>(GeneratedUniform<T>(m, n, 1));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      given(i, j) *=
          static_cast<T>(size * std::pow(10, -grade * static_cast<double>(j) / static_cast<double>(n)));
  const auto exact = dense<T>(GeneratedUniform<T>(n, 2, 3)), noise = dense<T>(GeneratedUniform<T>(m, 2, 4));
  Dense<T> b{m, 2};
  b.elements.resize(static_cast<std::size_t>(2 * m));
  for (std::int64_t c = 0; c < 2; ++c)
    for (std::int64_t i = 0; i < m; ++i) {
      double sum = size * left * static_cast<double>(noise(i, c));
      for (std::int64_t j = 0; j < n; ++j)
        sum += static_cast<double>(given(i, j)) * static_cast<double>(exact(j, c));
      b(i, c) = static_cast<T>(sum);
    }
  auto x = b;
  const auto a = runtime.tiled<T>("A", m, n, tile);
  const QrReflectors<T> q(runtime, a, QrTree::binary);
  Flow flow(runtime);
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(given), a, Tiles::all);
  factor_qr(flow, kernels(), a, q);
  {
    const auto tiled = runtime.tiled_in_place<T>("x", x.elements.data(), m, 2, m, tile);
    solve_qr_factored(flow, kernels(), a, q, tiled);
    wait_for_results(flow);
  }
  x(n - 1, 0) *= static_cast<T>(1 + spoilt);
  const Dense<double> wide_a{m, n, std::vector<double>(given.elements.begin(), given.elements.end())},
      wide_b{m, 2, std::vector<double>(b.elements.begin(), b.elements.end())};
  LeastSquaresError<T> error(kernels(), std::make_shared<GivenMatrix<double>>(wide_a),
                             std::make_shared<GivenMatrix<double>>(wide_b), x.elements.data(), m, 2);
  error.check(
      runtime, flow, tile,
      [&](Flow& into, const TiledMatrix<T>& r) { apply_q(into, kernels(), ApplyQ::transposed, a, q, r); },
      [&] { wait_for_results(flow); });
  return {error.value() / static_cast<double>(std::numeric_limits<T>::epsilon()), error.relative_residual(),
          error.residual_excess()};
}

template <class T>
class LeastSquaresErrorOf : public ::testing::Test {};
using PrecisionsOfErrors = BothOrFirst<double, float>;
TYPED_TEST_SUITE(LeastSquaresErrorOf, PrecisionsOfErrors);

TYPED_TEST(LeastSquaresErrorOf, AnAccurateSolutionHasASmallErrorForAnyResidual) {
  std::size_t turn = 0;
  for (const double left : {0.0, 1e-6, 1e-3, 1.0, 1e3})
    for (const double grade : {0.0, 3.0})
      for (const auto& [m, n] : {std::pair(2, 1), {40, 39}, {90, 33}, {300, 270}, {700, 20}}) {
        if (fairlead::tests::left_out(turn++, 3)) continue;
        EXPECT_LT(judged<TypeParam>(m, n, left, grade, 0).error, 10)
            << m << " x " << n << ", left " << left << ", grade " << grade;
      }
}

TYPED_TEST(LeastSquaresErrorOf, AWrongSolutionHasALargeError) {
  const double eps = static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  for (const double left : {0.0, 1e-3, 1.0})
    EXPECT_GT(judged<TypeParam>(90, 33, left, 0, 1e5 * eps).error, 100) << "left " << left;
  // The last column is a thousandth of the first one: A^T r alone would see a thousandth of the mistake.
  EXPECT_GT(judged<TypeParam>(90, 33, 0, 3, 1e7 * eps).error, 50);
}

TEST(LeastSquaresErrorOfWhatIsLeft, IsTheLeastResidualOrItsExcess) {
  for (const double left : {1e-3, 1.0}) {
    const Judged right = judged<double>(90, 33, left, 0, 0);
    EXPECT_LT(right.excess, 1e-12);
    for (const double spoilt : {1e-9, 1e-5, 1e-2, 10.0}) {
      // Spoilt in one of two columns: the largest residual is of that, or of both.
      const Judged off = judged<double>(90, 33, left, 0, spoilt);
      EXPECT_LE(off.residual - right.residual, off.excess) << left << " " << spoilt;
      EXPECT_LT(off.excess, off.residual + 1e-12) << left << " " << spoilt;
    }
    EXPECT_GT(judged<double>(90, 33, left, 0, 10).excess, 0.1);
  }
}

TEST(LeastSquaresErrorScaled, IsUnchanged) {
  for (const double left : {0.0, 1e-3, 1.0})
    for (const double spoilt : {0.0, 1e-8}) {
      const Judged of_one = judged<double>(300, 33, left, 0, spoilt);
      for (const double size : {0x1p-900, 0x1p-540, 0x1p-500, 0x1p480, 0x1p520, 0x1p900}) {
        const Judged scaled = judged<double>(300, 33, left, 0, spoilt, size);
        // An accurate x has an error of some roundings, which scaling of the tiles may shift.
        EXPECT_NEAR(scaled.error, of_one.error, spoilt == 0 ? 3 : 1e-3 * of_one.error) << size << " " << left;
        EXPECT_NEAR(scaled.residual, of_one.residual, 1e-10) << size << " " << left;
      }
    }
}

TEST(LeastSquaresErrorOfNothing, IsZeroAndIsNaNForNaN) {
  Runtime runtime(config_of({}));
  const Dense<double> a{3, 1, {1, 2, 3}}, b{3, 1, {0, 0, 0}};
  std::vector<double> x{0};
  const auto error_of = [&](double value) {
    x[0] = value;
    Flow flow(runtime);
    LeastSquaresError<double> error(kernels(), std::make_shared<GivenMatrix<double>>(a),
                                    std::make_shared<GivenMatrix<double>>(b), x.data(), 3, 1);
    error.check(
        runtime, flow, 2, [](Flow&, const TiledMatrix<double>&) {}, [&] { flow.wait(); });
    return error.value();
  };
  EXPECT_EQ(error_of(0), 0);
  EXPECT_GT(error_of(1), 0.1);
  EXPECT_TRUE(std::isnan(error_of(1e308)));  // || A || || x || overflows
  EXPECT_TRUE(std::isnan(error_of(std::numeric_limits<double>::quiet_NaN())));
}

TYPED_TEST(LeastSquaresErrorOf, TheResidualMatchesB) {
  EXPECT_LT(judged<TypeParam>(90, 33, 0, 0, 0).residual, 1e-5);
  const double half = judged<TypeParam>(90, 33, 3, 0, 0).residual;
  EXPECT_GT(half, 0.3);
  EXPECT_LT(half, 0.9);
}

}  // namespace
}  // namespace fairlead::linalg::testing
