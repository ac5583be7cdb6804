// LU factorizations without pivoting and the solves that follow, checked by the criteria of LAPACK's tests.
#include <fairlead/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/linalg/blas/unpivoted_lu.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
std::shared_ptr<const MatrixSource<T>> dominant(std::int64_t n, std::uint64_t seed) {
  return std::make_shared<GeneratedUniform<T>>(n, n, seed, static_cast<double>(n));
}

template <class T>
class Lu : public ::testing::Test {};
using PrecisionsOfLu = BothOrFirst<float, double>;
TYPED_TEST_SUITE(Lu, PrecisionsOfLu);

TYPED_TEST(Lu, HasASmallResidualForSizesUnequalToTheTile) {
  using T = TypeParam;
  const int tile = 32;
  for (const int n : {1, 2, 3, tile - 1, tile, tile + 1, 61, 127, 257}) {
    const auto a = dominant<T>(n, 7);
    EXPECT_LT(lu_residual(dense<T>(*a), lu_factors<T>(a, tile, {})), 30) << "n = " << n;
  }
}

// Larger than a panel of the solves and a leaf of the recursion.
TYPED_TEST(Lu, HasASmallResidualInLargeTiles) {
  using T = TypeParam;
  const auto a = dominant<T>(450, 7);
  EXPECT_LT(lu_residual(dense<T>(*a), lu_factors<T>(a, 200, {})), 30);
}

TYPED_TEST(Lu, SolvesForOneAndForSeveralRightHandSides) {
  using T = TypeParam;
  for (const auto& [n, columns, tile] :
       {std::tuple(1, 1, 8), {7, 3, 8}, {97, 1, 16}, {97, 5, 16}, {64, 40, 16}}) {
    Runtime runtime(config_of({}));
    const auto source = dominant<T>(n, 1);
    const auto b = dense<T>(GeneratedUniform<T>(n, columns, 2));
    auto x = b;
    const auto a = runtime.tiled<T>("A", n, n, tile);
    const auto tiled_x = runtime.tiled_in_place<T>("x", x.elements.data(), n, columns, n, tile);
    Flow flow(runtime);
    fill<T>(flow, source, a, Tiles::all);
    lu(flow, kernels(), a);
    solve_lu_factored(flow, kernels(), a, tiled_x);
    wait_for_results(flow);
    EXPECT_LT(solution_residual(dense<T>(*source), x, b), 30) << n << " x " << columns;
  }
}

TYPED_TEST(Lu, NamesTheColumnOfAPivotThatIsZero) {
  using T = TypeParam;
  for (const int bad : {0, 1, 31, 32, 70, 99}) {
    auto a = dense<T>(*dominant<T>(100, 3));
    for (int i = 0; i < 100; ++i) a(i, bad) = 0;
    try {
      lu_factors<T>(std::make_shared<GivenMatrix<T>>(a), 32, {});
      FAIL() << "nothing was thrown";
    } catch (const NumericalError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("the pivot in column " + std::to_string(bad) +
                                                     ", counted from 0, is zero"));
    }
  }
}

// Without pivoting the elements may grow until they are infinite: the next pivot detects it.
TYPED_TEST(Lu, NamesTheColumnWhereThePivotOverflows) {
  using T = TypeParam;
  auto a = dense<T>(*dominant<T>(100, 3));
  a(50, 50) = std::numeric_limits<T>::infinity();
  try {
    lu_factors<T>(std::make_shared<GivenMatrix<T>>(a), 32, {});
    FAIL() << "nothing was thrown";
  } catch (const NumericalError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the pivot in column 50, counted from 0, is not finite"));
  }
}

TYPED_TEST(Lu, OutOfCoreGivesTheSameBitsAsInCore) {
  using T = TypeParam;
  const int n = 520, tile = 48;  // 11 x 11 tiles, the last of 40
  const auto a = dominant<T>(n, 11);
  const auto in_core = lu_factors<T>(a, tile, {});
  EXPECT_LT(lu_residual(dense<T>(*a), in_core), 30);
  const Bytes tile_bytes = (tile * tile * sizeof(T) + 4095) / 4096 * 4096;
  std::size_t turn = 0;
  for (const char* policy : {"eager", "lws", "darts", "blocks"})
    for (const Bytes tiles : {6, 31, 121}) {  // a quarter is 31
      if (fairlead::tests::left_out(turn++, 5)) continue;
      Bytes bytes_read = 0;
      const auto out_of_core =
          lu_factors<T>(a, tile, {.memory = tiles * tile_bytes + 4096, .scheduler = policy}, &bytes_read);
      EXPECT_TRUE(out_of_core == in_core) << policy << ", memory of " << tiles << " tiles";
      EXPECT_EQ(bytes_read > 0, tiles < 121) << policy << ", " << tiles;
    }
}

TYPED_TEST(Lu, OfATallPanelEqualsThatOfItsColumns) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair(9, 9), {40, 17}, {30, 8}}) {
    auto a = dense<T>(*dominant<T>(m, 5));
    a.elements.resize(static_cast<std::size_t>(m * n));
    a.columns = n;
    auto factors = a;
    ASSERT_EQ(unpivoted_lu<T>(kernels().blas(), m, n, factors.elements.data(), m), 0);
    EXPECT_LT(lu_residual(a, factors), 30) << m << " x " << n;
  }
}

TEST(LuShapes, MismatchIsRejected) {
  Runtime runtime(config_of({}));
  const auto wide = runtime.tiled<double>("A", 10, 20, 5), a = runtime.tiled<double>("A", 20, 20, 5);
  const auto short_b = runtime.tiled<double>("b", 19, 1, 5);
  Flow flow(runtime);
  EXPECT_THROW(lu(flow, kernels(), wide), UsageError);
  EXPECT_THROW(solve_lu_factored(flow, kernels(), a, short_b), UsageError);
  EXPECT_EQ(flow.submitted(), 0u);
}

TEST(LuTasks, CountMatchesTheFormulaPerKernel) {
  for (const int n : {1, 40, 64, 65, 200}) {
    Runtime runtime(config_of({}));
    const auto a = runtime.tiled<double>("A", n, n, 32);
    const Kernels counting = kernels();
    Flow flow(runtime);
    fill<double>(flow, dominant<double>(n, 1), a, Tiles::all);
    const auto before = flow.submitted();
    const auto counts_before = counting.counts();
    lu(flow, counting, a);
    EXPECT_EQ(flow.submitted() - before, lu_tasks(a.tile_rows()));
    wait_for_results(flow);
    const auto nt = static_cast<std::uint64_t>(a.tile_rows());
    const auto calls = [&](Kernel kernel) {
      return counting.counts()[static_cast<std::size_t>(kernel)].calls -
             counts_before[static_cast<std::size_t>(kernel)].calls;
    };
    EXPECT_EQ(calls(Kernel::getrf), nt);
    EXPECT_EQ(calls(Kernel::trsm), nt * (nt - 1));
    EXPECT_EQ(calls(Kernel::gemm), (nt - 1) * nt * (2 * nt - 1) / 6);
    EXPECT_EQ(calls(Kernel::syrk), 0u);
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing
