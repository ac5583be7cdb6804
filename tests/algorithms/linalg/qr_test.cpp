// Tiled QR factorizations, Q applied, and least squares, checked by the criteria of LAPACK's tests (xQRT01 to xQRT03,
// xQRT16, xQRT17), and compared with LAPACK's xGELS on the same system.
#include <fairlead/error.hpp>
#include <fairlead/qr.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/qr_world.hpp"
#include "at_length.hpp"
#include "base/shared_library.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
class Qr : public ::testing::Test {};
using PrecisionsOfQr = BothOrFirst<float, double>;
TYPED_TEST_SUITE(Qr, PrecisionsOfQr);

TYPED_TEST(Qr, HasASmallResidualAndAnOrthogonalQForAnyShape) {
  using T = TypeParam;
  const int tile = 24;
  for (const auto& [m, n] : {std::pair(1, 1),
                             {2, 1},
                             {3, 2},
                             {23, 23},
                             {24, 24},
                             {25, 24},
                             {25, 25},
                             {49, 48},
                             {61, 61},
                             {73, 50},
                             {97, 24},
                             {100, 1},
                             {150, 30},
                             {121, 121},
                             {200, 47},
                             {193, 145}})
    for (const QrTree tree : trees) {
      const auto a = uniform<T>(m, n, 7);
      expect_right<T>(a, qr_factors<T>(a, tile, tree, {}), text(m, n, tile, tree));
    }
}

TYPED_TEST(Qr, MayHaveBlocksOfAnySizeInATile) {
  using T = TypeParam;
  const auto a = uniform<T>(75, 53, 5);
  for (const QrTree tree : trees)
    for (const int block : {1, 3, 8, 19, 20})
      expect_right<T>(a, qr_factors<T>(a, 20, tree, {}, nullptr, block),
                      text(75, 53, 20, tree) + ", block " + std::to_string(block));
}

/// || A^T r || / (|| A || || r || max(m, n) eps), in the Frobenius norm.
template <class T>
double normal_residual(const Dense<T>& a, const Dense<T>& x, const Dense<T>& b) {
  double worst = 0;
  for (std::int64_t c = 0; c < b.columns; ++c) {
    std::vector<double> r(static_cast<std::size_t>(a.rows));
    double size = 0, norm = 0, normal = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      long double sum = static_cast<long double>(b(i, c));
      for (std::int64_t j = 0; j < a.columns; ++j)
        sum -= static_cast<long double>(a(i, j)) * static_cast<long double>(x(j, c));
      r[static_cast<std::size_t>(i)] = static_cast<double>(sum);
      size += static_cast<double>(sum * sum);
    }
    for (std::int64_t j = 0; j < a.columns; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < a.rows; ++i) {
        sum += static_cast<double>(a(i, j)) * r[static_cast<std::size_t>(i)];
        norm += static_cast<double>(a(i, j)) * static_cast<double>(a(i, j));
      }
      normal += sum * sum;
    }
    worst = std::max(
        worst, std::sqrt(normal / norm / size) / (static_cast<double>(std::max(a.rows, a.columns)) *
                                                  static_cast<double>(std::numeric_limits<T>::epsilon())));
  }
  return worst;
}

/// LAPACK's least squares solution: the first n rows are x.
template <class T>
Dense<T> gels(Dense<T> a, Dense<T> b) {
  using Int = const std::int32_t*;
  static const auto library = SharedLibrary::open(kernels().blas().lapack_path());
  static const auto routine =
      library.template require<void(const char*, Int, Int, Int, T*, Int, T*, Int, T*, Int, std::int32_t*,
                                    std::size_t)>(std::is_same_v<T, double> ? "dgels_" : "sgels_");
  const auto m = static_cast<std::int32_t>(a.rows), n = static_cast<std::int32_t>(a.columns),
             columns = static_cast<std::int32_t>(b.columns), size = std::int32_t{64} * (m + n + columns);
  std::vector<T> work(static_cast<std::size_t>(size));
  std::int32_t info = 0;
  routine("N", &m, &n, &columns, a.elements.data(), &m, b.elements.data(), &m, work.data(), &size, &info, 1);
  EXPECT_EQ(info, 0);
  return b;
}

template <class T>
void expect_least_squares(std::int64_t m, std::int64_t n, std::int64_t columns, std::int32_t tile,
                          QrTree tree) {
  Runtime runtime(config_of({}));
  const auto source = uniform<T>(m, n, 1);
  const auto given = dense<T>(*source), b = dense<T>(GeneratedUniform<T>(m, columns, 2));
  auto x = b;
  const auto a = runtime.tiled<T>("A", m, n, tile);
  const auto tiled_x = runtime.tiled_in_place<T>("x", x.elements.data(), m, columns, m, tile);
  const QrReflectors<T> q(runtime, a, tree);
  Flow flow(runtime);
  fill<T>(flow, source, a, Tiles::all);
  factor_qr(flow, kernels(), a, q);
  solve_qr_factored(flow, kernels(), a, q, tiled_x);
  wait_for_results(flow);
  const std::string what = text(m, n, tile, tree) + ", " + std::to_string(columns) + " columns";
  const auto lapacks = gels(given, b);
  double largest = 0, difference = 0;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t i = 0; i < n; ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(lapacks(i, c))));
      difference = std::max(difference, std::abs(static_cast<double>(lapacks(i, c) - x(i, c))));
    }
  if (m == n) {
    EXPECT_LT(solution_residual(given, x, b), 30) << what;
  } else {
    EXPECT_LT(normal_residual(given, x, b), 30) << what;
    // A random tall matrix is well conditioned.
    EXPECT_LT(difference, 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest) << what;
    for (std::int64_t c = 0; c < columns; ++c) {  // the rest of b is the residual
      double left = 0, residual = 0;
      for (std::int64_t i = n; i < m; ++i)
        left += static_cast<double>(x(i, c)) * static_cast<double>(x(i, c));
      for (std::int64_t i = 0; i < m; ++i) {
        double r = static_cast<double>(b(i, c));
        for (std::int64_t j = 0; j < n; ++j)
          r -= static_cast<double>(given(i, j)) * static_cast<double>(x(j, c));
        residual += r * r;
      }
      EXPECT_NEAR(std::sqrt(left), std::sqrt(residual), 1e3 * std::numeric_limits<T>::epsilon()) << what;
    }
  }
}

TYPED_TEST(Qr, SolvesSquareSystemsAndLeastSquaresAsLapackDoes) {
  for (const QrTree tree : trees)
    for (const auto& [m, n, columns, tile] : {std::tuple(1, 1, 1, 8),
                                              {9, 4, 3, 8},
                                              {8, 7, 1, 8},
                                              {97, 97, 1, 16},
                                              {97, 97, 5, 16},
                                              {100, 37, 1, 16},
                                              {100, 40, 40, 16},
                                              {200, 3, 2, 16},
                                              {130, 129, 1, 32}})
      expect_least_squares<TypeParam>(m, n, columns, tile, tree);
}

TYPED_TEST(Qr, OutOfCoreAndOnDevicesGivesTheSameBitsAsInCore) {
  using T = TypeParam;
  const int m = 330, n = 210, tile = 48;
  const auto a = uniform<T>(m, n, 11);
  const Bytes tile_bytes = (tile * tile * sizeof(T) + 4095) / 4096 * 4096;
  std::size_t turn = 0;
  for (const QrTree tree : trees) {
    const auto in_core = qr_factors<T>(a, tile, tree, {});
    expect_right<T>(a, in_core, text(m, n, tile, tree));
    for (const char* policy : {"eager", "lws", "darts", "blocks", "dmdas"})
      for (const char* devices : {"", "emulated:memory=150KiB",
                                  "emulated:memory=200KiB + emulated:memory=400KiB,copies=blocking"}) {
        if (fairlead::tests::left_out(turn++, 4)) continue;
        Bytes bytes_read = 0;
        const Setting setting{
            .workers = 1, .memory = 14 * tile_bytes, .scheduler = policy, .devices = devices};
        const auto out_of_core = qr_factors<T>(a, tile, tree, setting, &bytes_read);
        const std::string what = text(m, n, tile, tree) + ", " + policy + ", devices " + devices;
        EXPECT_TRUE(out_of_core.r == in_core.r && out_of_core.q == in_core.q) << what;
        EXPECT_GT(bytes_read, 0u) << what;
      }
  }
}

TYPED_TEST(Qr, NamesTheLinearlyDependentColumn) {
  using T = TypeParam;
  for (const QrTree tree : trees)
    for (const int bad : {0, 1, 31, 32, 69}) {
      auto given = dense<T>(*uniform<T>(100, 70, 3));
      for (int i = 0; i < 100; ++i) given(i, bad) = 0;
      Runtime runtime(config_of({}));
      const auto a = runtime.tiled<T>("A", 100, 70, 32), b = runtime.tiled<T>("b", 100, 1, 32);
      const QrReflectors<T> q(runtime, a, tree);
      Flow flow(runtime);
      fill<T>(flow, std::make_shared<GivenMatrix<T>>(given), a, Tiles::all);
      fill<T>(flow, uniform<T>(100, 1, 3), b, Tiles::all);
      factor_qr(flow, kernels(), a, q);
      solve_qr_factored(flow, kernels(), a, q, b);
      try {
        wait_for_results(flow);
        FAIL() << "nothing was thrown";
      } catch (const NumericalError& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("the columns of the matrix are not independent: R has "
                                                       "a zero on the diagonal in column " +
                                                       std::to_string(bad) + ", counted from 0"));
      }
    }
}

TYPED_TEST(Qr, NamesTheColumnWhereNumbersAreNotFinite) {
  using T = TypeParam;
  auto given = dense<T>(*uniform<T>(100, 70, 3));
  given(80, 50) = std::numeric_limits<T>::infinity();
  Runtime runtime(config_of({}));
  const auto a = runtime.tiled<T>("A", 100, 70, 32), b = runtime.tiled<T>("b", 100, 1, 32);
  const QrReflectors<T> q(runtime, a);
  Flow flow(runtime);
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(given), a, Tiles::all);
  fill<T>(flow, uniform<T>(100, 1, 3), b, Tiles::all);
  factor_qr(flow, kernels(), a, q);
  solve_qr_factored(flow, kernels(), a, q, b);
  EXPECT_THROW(wait_for_results(flow), NumericalError);
}

TEST(QrShapes, MismatchIsRejected) {
  Runtime runtime(config_of({}));
  const auto wide = runtime.tiled<double>("wide", 10, 20, 5), a = runtime.tiled<double>("A", 20, 10, 5),
             other = runtime.tiled<double>("other", 20, 20, 5);
  const auto short_b = runtime.tiled<double>("b", 19, 1, 5), fine_b = runtime.tiled<double>("b", 20, 1, 4);
  EXPECT_THROW(QrReflectors<double>(runtime, wide), UsageError);
  EXPECT_THROW(QrReflectors<double>(runtime, a, QrTree::flat, 6), UsageError);
  const QrReflectors<double> q(runtime, a);
  Flow flow(runtime);
  EXPECT_THROW(factor_qr(flow, kernels(), other, q), UsageError);
  EXPECT_THROW(solve_qr_factored(flow, kernels(), a, q, short_b), UsageError);
  EXPECT_THROW(apply_q(flow, kernels(), ApplyQ::plain, a, q, fine_b), UsageError);
  EXPECT_EQ(flow.submitted(), 0u);
}

TEST(QrTasks, CountMatchesTheFormula) {
  for (const QrTree tree : trees)
    for (const auto& [m, n] : {std::pair(1, 1), {40, 40}, {65, 64}, {200, 64}, {200, 200}}) {
      Runtime runtime(config_of({}));
      const auto a = runtime.tiled<double>("A", m, n, 32), b = runtime.tiled<double>("b", m, 70, 32);
      const QrReflectors<double> q(runtime, a, tree);
      Flow flow(runtime);
      fill<double>(flow, uniform<double>(m, n, 1), a, Tiles::all);
      fill<double>(flow, uniform<double>(m, 70, 1), b, Tiles::all);
      auto before = flow.submitted();
      factor_qr(flow, kernels(), a, q);
      EXPECT_EQ(flow.submitted() - before, qr_tasks(a.tile_rows(), a.tile_columns(), tree));
      before = flow.submitted();
      solve_qr_factored(flow, kernels(), a, q, b);
      EXPECT_EQ(flow.submitted() - before, qr_solve_tasks(a.tile_rows(), a.tile_columns(), tree, 3));
      wait_for_results(flow);
    }
}

}  // namespace
}  // namespace fairlead::linalg::testing
