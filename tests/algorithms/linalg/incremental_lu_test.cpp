// LU factorizations with incremental pivoting and the solves that follow, checked by the criteria of LAPACK's tests
// (xGET02), and compared with its xGESV on the same system.
#include <fairlead/error.hpp>
#include <fairlead/incremental_lu.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/linalg/blas/pairwise_lu.hpp"
#include "algorithms/linalg/lapack_solution.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
std::shared_ptr<const MatrixSource<T>> general(std::int64_t n, std::uint64_t seed) {
  return std::make_shared<GeneratedUniform<T>>(n, n, seed);
}

struct Solutions {
  bool with_transposed = false;
  Bytes bytes_read = 0;
};

/// x with A x = b, or A^T x = b.
template <class T>
Dense<T> solved(const std::shared_ptr<const MatrixSource<T>>& source, const Dense<T>& b, std::int32_t tile,
                const Setting& setting, Solutions* how = nullptr, std::int32_t inner_block = 0) {
  Runtime runtime(config_of(setting));
  auto x = b;
  const auto a = runtime.tiled<T>("A", source->rows(), source->columns(), tile);
  const auto tiled_x = runtime.tiled_in_place<T>("x", x.elements.data(), b.rows, b.columns, b.rows, tile);
  const IncrementalPivots<T> p(runtime, a, inner_block);
  Flow flow(runtime);
  fill<T>(flow, source, a, Tiles::all);
  factor_lu_incremental(flow, kernels(), a, p);
  if (how != nullptr && how->with_transposed)
    solve_lu_incremental_transposed(flow, kernels(), a, p, tiled_x);
  else
    solve_lu_incremental_factored(flow, kernels(), a, p, tiled_x);
  wait_for_results(flow);
  if (how != nullptr) how->bytes_read = runtime.disk_traffic().read;
  return x;
}

/// || b - A x || / (n || A || || x || eps), as xGET02 has it but for the norm.
template <class T>
double judged(const Dense<T>& a, const Dense<T>& x, const Dense<T>& b) {
  return solution_residual(a, x, b) / static_cast<double>(a.rows);
}

template <class T>
class IncrementalLu : public ::testing::Test {};
using PrecisionsOfIncrementalLu = BothOrFirst<double, float>;
TYPED_TEST_SUITE(IncrementalLu, PrecisionsOfIncrementalLu);

TYPED_TEST(IncrementalLu, SolvesForSizesUnequalToTheTileAboutAsWellAsLapack) {
  using T = TypeParam;
  const int tile = 32;
  for (const int n : {1, 2, 3, 5, 31, 32, 33, 61, 64, 65, 127, 193, 257})
    for (const int columns : {1, 5}) {
      const auto source = general<T>(n, 7);
      const auto a = dense<T>(*source), b = dense<T>(GeneratedUniform<T>(n, columns, 2));
      const auto x = solved<T>(source, b, tile, {}), lapacks = gesv(a, b);
      EXPECT_LT(judged(a, x, b), 30) << "n = " << n;
      EXPECT_LT(solution_residual(a, x, b), 30 + 100 * solution_residual(a, lapacks, b)) << "n = " << n;
    }
}

TYPED_TEST(IncrementalLu, MayHaveBlocksOfAnySizeInATile) {
  using T = TypeParam;
  const auto source = general<T>(77, 5);
  const auto a = dense<T>(*source), b = dense<T>(GeneratedUniform<T>(77, 3, 2));
  for (const int block : {1, 3, 8, 19, 20})
    EXPECT_LT(judged(a, solved<T>(source, b, 20, {}, nullptr, block), b), 30) << block;
}

TYPED_TEST(IncrementalLu, SolvesWithTheTransposedMatrix) {
  using T = TypeParam;
  for (const int n : {1, 20, 33, 97, 128}) {
    const auto source = general<T>(n, 9);
    const auto b = dense<T>(GeneratedUniform<T>(n, 4, 2));
    Solutions how{.with_transposed = true};
    EXPECT_LT(judged(transposed_of(dense<T>(*source)), solved<T>(source, b, 20, {}, &how), b), 30) << n;
  }
}

// No LU factorization without row exchanges: zero tiles on the diagonal, rows in any order.
TYPED_TEST(IncrementalLu, FindsPivotsInOtherTiles) {
  using T = TypeParam;
  const int n = 90;
  for (const int shift : {1, 17, 30, 45, 89}) {
    Dense<T> a{n, n};
    a.elements.assign(n * n, 0);
    for (int i = 0; i < n; ++i) a((i + shift) % n, i) = static_cast<T>(i + 1);
    const auto b = dense<T>(GeneratedUniform<T>(n, 2, 2));
    const auto x = solved<T>(std::make_shared<GivenMatrix<T>>(a), b, 16, {});
    for (int i = 0; i < n; ++i) {
      const T exact = b((i + shift) % n, 0) / static_cast<T>(i + 1);
      EXPECT_NEAR(x(i, 0), exact, 2 * std::numeric_limits<T>::epsilon() * std::abs(exact)) << shift;
    }
  }
}

// L = P1 L1 ..., so what the tasks did to A they do to the rows of A alone: U = (what they do) A.
TYPED_TEST(IncrementalLu, OfTwoTilesIsThatOfTheirStack) {
  using T = TypeParam;
  for (const auto& [m, n, ib] : {std::tuple(7, 7, 3), {12, 9, 4}, {3, 8, 8}, {1, 5, 2}, {40, 33, 16}}) {
    const auto u_before = dense<T>(GeneratedUniform<T>(n, n, 1)),
               a_before = dense<T>(GeneratedUniform<T>(m, n, 2));
    auto u = u_before, a = a_before;
    std::vector<T> l(static_cast<std::size_t>(ib * n)), work(static_cast<std::size_t>((ib + m) * ib));
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
    const Blas& blas = kernels().blas();
    ASSERT_EQ(tstrf<T>(blas, m, n, u.elements.data(), n, a.elements.data(), m,
                       {ib, l.data(), ib, pivots.data()}, work.data()),
              0);
    // The triangle and the tile themselves as what is on the right.
    auto c1 = u_before, c2 = a_before;
    for (int j = 0; j < n; ++j)
      for (int i = j + 1; i < n; ++i) {
        EXPECT_EQ(u(i, j), u_before(i, j));  // below the diagonal: of another task
        c1(i, j) = 0;
      }
    ssssm<T>(blas, m, n, n, a.elements.data(), m, {ib, l.data(), ib, pivots.data()}, c1.elements.data(), n,
             c2.elements.data(), m);
    const double limit = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i)
        EXPECT_NEAR(c1(i, j), i <= j ? u(i, j) : T(0), limit) << m << " x " << n << ": " << i << ", " << j;
      for (int i = 0; i < m; ++i) EXPECT_NEAR(c2(i, j), 0, limit);
    }
  }
}

TYPED_TEST(IncrementalLu, OutOfCoreAndOnDevicesGivesTheSameBitsAsInCore) {
  using T = TypeParam;
  const int n = 330, tile = 48;
  const auto source = general<T>(n, 11);
  const auto a = dense<T>(*source), b = dense<T>(GeneratedUniform<T>(n, 3, 2));
  const Bytes tile_bytes = (tile * tile * sizeof(T) + 4095) / 4096 * 4096;
  const auto in_core = solved<T>(source, b, tile, {});
  EXPECT_LT(judged(a, in_core, b), 30);
  std::size_t turn = 0;
  for (const char* policy : {"eager", "lws", "darts", "blocks", "dmdas"})
    for (const char* devices :
         {"", "emulated:memory=150KiB", "emulated:memory=200KiB + emulated:memory=400KiB,copies=blocking"}) {
      if (fairlead::tests::left_out(turn++, 2)) continue;
      Solutions how;
      EXPECT_TRUE(
          solved<T>(source, b, tile,
                    {.workers = 1, .memory = 14 * tile_bytes, .scheduler = policy, .devices = devices},
                    &how) == in_core)
          << policy << ", devices " << devices;
      EXPECT_GT(how.bytes_read, 0u) << policy << ", devices " << devices;
    }
}

// As after a bit flip on the disk: a row that does not exist is not accessed.
TYPED_TEST(IncrementalLu, RejectsInvalidRowExchanges) {
  using T = TypeParam;
  const int n = 40, tile = 16;
  for (const std::int32_t bad : {0, -5, 17, 1 << 30})
    for (const auto& [row, column] : {std::pair(0, 0), {1, 1}, {1, 0}, {2, 1}}) {
      Runtime runtime(config_of({}));
      auto x = dense<T>(GeneratedUniform<T>(n, 2, 2));
      const auto a = runtime.tiled<T>("A", n, n, tile);
      const auto tiled_x = runtime.tiled_in_place<T>("x", x.elements.data(), n, 2, n, tile);
      const IncrementalPivots<T> p(runtime, a, 4);
      Flow flow(runtime);
      fill<T>(flow, general<T>(n, 3), a, Tiles::all);
      factor_lu_incremental(flow, kernels(), a, p);
      // A block of 4 on top of a tile of 16 or 8 rows, a tile of 16 alone.
      const std::int32_t wrong = bad == 17 && row != column ? 21 : bad;
      flow.submit(codelet("spoil").cpu([wrong](InOut<Vector<std::int32_t>> e) { e(5) = wrong; })(
          p.exchanges(row, column)));
      solve_lu_incremental_factored(flow, kernels(), a, p, tiled_x);
      EXPECT_THROW(wait_for_results(flow), SystemError) << wrong << " in " << row << ", " << column;
    }
}

TYPED_TEST(IncrementalLu, NamesTheColumnOfAPivotThatIsZero) {
  using T = TypeParam;
  for (const int bad : {0, 1, 31, 32, 70, 99}) {
    auto a = dense<T>(*general<T>(100, 3));
    for (int i = 0; i < 100; ++i) a(i, bad) = 0;
    try {
      solved<T>(std::make_shared<GivenMatrix<T>>(a), dense<T>(GeneratedUniform<T>(100, 1, 2)), 32, {});
      FAIL() << "nothing was thrown";
    } catch (const NumericalError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("the pivot in column " + std::to_string(bad) +
                                                     ", counted from 0, is zero"));
    }
  }
}

TYPED_TEST(IncrementalLu, NamesAColumnWhereNumbersAreNotFinite) {
  using T = TypeParam;
  for (const T bad : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()})
    for (const int row : {0, 20, 50, 99})
      for (const int column : {0, 50, 99}) {
        auto a = dense<T>(*general<T>(100, 3));
        a(row, column) = bad;
        try {
          solved<T>(std::make_shared<GivenMatrix<T>>(a), dense<T>(GeneratedUniform<T>(100, 1, 2)), 32, {});
          ADD_FAILURE() << "nothing was thrown";
        } catch (const NumericalError& error) {
          EXPECT_THAT(error.what(), ::testing::HasSubstr("not finite"));
        }
      }
}

TEST(IncrementalLuShapes, MismatchIsRejected) {
  Runtime runtime(config_of({}));
  const auto tall = runtime.tiled<double>("tall", 20, 10, 5), a = runtime.tiled<double>("A", 20, 20, 5),
             other = runtime.tiled<double>("other", 19, 19, 5);
  const auto short_b = runtime.tiled<double>("b", 19, 1, 5), fine_b = runtime.tiled<double>("b", 20, 1, 4);
  EXPECT_THROW(IncrementalPivots<double>(runtime, tall), UsageError);
  EXPECT_THROW(IncrementalPivots<double>(runtime, a, 6), UsageError);
  const IncrementalPivots<double> p(runtime, a);
  Flow flow(runtime);
  EXPECT_THROW(factor_lu_incremental(flow, kernels(), other, p), UsageError);
  EXPECT_THROW(solve_lu_incremental_factored(flow, kernels(), a, p, short_b), UsageError);
  EXPECT_THROW(solve_lu_incremental_transposed(flow, kernels(), a, p, fine_b), UsageError);
  EXPECT_EQ(flow.submitted(), 0u);
}

TEST(IncrementalLuTasks, CountMatchesTheFormula) {
  for (const int n : {1, 40, 64, 65, 200}) {
    Runtime runtime(config_of({}));
    const auto a = runtime.tiled<double>("A", n, n, 32), b = runtime.tiled<double>("b", n, 70, 32);
    const IncrementalPivots<double> p(runtime, a);
    Flow flow(runtime);
    fill<double>(flow, general<double>(n, 1), a, Tiles::all);
    fill<double>(flow, std::make_shared<GeneratedUniform<double>>(n, 70, 1), b, Tiles::all);
    auto before = flow.submitted();
    factor_lu_incremental(flow, kernels(), a, p);
    EXPECT_EQ(flow.submitted() - before, lu_incremental_tasks(a.tile_rows()));
    before = flow.submitted();
    solve_lu_incremental_factored(flow, kernels(), a, p, b);
    EXPECT_EQ(flow.submitted() - before, lu_incremental_solve_tasks(a.tile_rows(), 3));
    wait_for_results(flow);
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing
