// LU factorizations with partial pivoting and the solves that follow, compared with LAPACK's xGETRF and xGESV.
#include <fairlead/error.hpp>
#include <fairlead/pivoted_lu.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <utility>

#include "algorithms/linalg/column_blocks.hpp"
#include "algorithms/linalg/lapack_solution.hpp"
#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "base/shared_library.hpp"
#include "on_ranks.hpp"

namespace fairlead::linalg::testing::pivoted_lu {
namespace {

template <class T>
std::shared_ptr<const MatrixSource<T>> uniform(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  return std::make_shared<GeneratedUniform<T>>(rows, columns, seed);
}
template <class T>
std::shared_ptr<const MatrixSource<T>> given(const Dense<T>& a) {
  return std::make_shared<GivenMatrix<T>>(a);
}
template <class T>
Dense<T> zeros(std::int64_t rows, std::int64_t columns) {
  return {rows, columns, std::vector<T>(static_cast<std::size_t>(rows * columns))};
}
/// Factors, and the rows, counted from 1, that were exchanged with each row.
template <class T>
struct PivotedFactors {
  Dense<T> factors;
  std::vector<std::int32_t> pivots{};
  std::size_t blocks = 1;  ///< of columns
  Bytes bytes_read = 0;
  bool operator==(const PivotedFactors& other) const {
    return factors == other.factors && pivots == other.pivots;
  }
};

template <class T>
PivotedFactors<T> lapack_factors(Dense<T> a) {
  using Int = const std::int32_t*;
  static const auto library = SharedLibrary::open(kernels().blas().lapack_path());
  static const auto routine = library.template require<void(Int, Int, T*, Int, std::int32_t*, std::int32_t*)>(
      std::is_same_v<T, double> ? "dgetrf_" : "sgetrf_");
  const auto m = static_cast<std::int32_t>(a.rows), n = static_cast<std::int32_t>(a.columns);
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  std::int32_t info = 0;
  routine(&m, &n, a.elements.data(), &m, pivots.data(), &info);
  EXPECT_EQ(info, 0);
  return {std::move(a), std::move(pivots)};
}
template <class T>
PivotedFactors<T> pivoted(const std::shared_ptr<const MatrixSource<T>>& source, std::int32_t tile,
                          const Setting& setting = {}) {
  Runtime runtime(config_of(setting));
  const auto a = runtime.tiled<T>("A", source->rows(), source->columns(), tile);
  const RowPivots<T> p(runtime, a);
  Flow flow(runtime);
  fill<T>(flow, source, a, Tiles::all);
  factor_lu_pivoted(flow, kernels(), a, p);
  wait_for_results(flow);
  PivotedFactors<T> result{.factors = {}, .blocks = p.column_blocks().size()};
  result.bytes_read = runtime.disk_traffic().read;
  for (std::int32_t k = 0; k < a.tile_columns(); ++k) {
    const auto hold = flow.acquire(read(p.panel(k)));
    const auto panel = hold.template get<0>();
    for (std::int64_t i = 0; i < panel.size(); ++i) result.pivots.push_back(panel(i));
  }
  result.factors = fetch(flow, a);
  return result;
}

enum class Solve : std::uint8_t { plain, transposed };

/// x with A x = b, or A^T x = b.
template <class T>
Dense<T> pivoted_solution(const std::shared_ptr<const MatrixSource<T>>& source, const Dense<T>& b,
                          std::int32_t tile, const Setting& setting = {}, Solve which = Solve::plain) {
  Runtime runtime(config_of(setting));
  auto x = b;
  const auto a = runtime.tiled<T>("A", source->rows(), source->columns(), tile);
  const auto tiled_x = runtime.tiled_in_place<T>("x", x.elements.data(), b.rows, b.columns, b.rows, tile);
  const RowPivots<T> p(runtime, a);
  Flow flow(runtime);
  fill<T>(flow, source, a, Tiles::all);
  factor_lu_pivoted(flow, kernels(), a, p);
  const auto solve = which == Solve::plain ? solve_lu_pivoted_factored<T> : solve_lu_pivoted_transposed<T>;
  solve(flow, kernels(), a, p, tiled_x);
  wait_for_results(flow);
  return x;
}

/// Exchanges rows of columns [begin, end) as the pivots [first, last) say.
template <class T>
void exchange_rows(Dense<T>& a, const std::vector<std::int32_t>& pivots, std::size_t first, std::size_t last,
                   std::int64_t begin, std::int64_t end) {
  for (std::size_t i = first; i < last; ++i)
    for (std::int64_t j = begin; j < end; ++j)
      std::swap(a(static_cast<std::int64_t>(i), j), a(pivots[i] - 1, j));
}
/// L as LAPACK stores it, with the exchanges of all panels.
template <class T>
Dense<T> in_lapack_order(const PivotedFactors<T>& of, std::int32_t tile) {
  Dense<T> a = of.factors;
  for (std::int64_t first = 0; first < a.columns; first += tile) {
    const std::int64_t end = std::min<std::int64_t>(first + tile, a.columns);
    exchange_rows(a, of.pivots, static_cast<std::size_t>(end), of.pivots.size(), first, end);
  }
  return a;
}
/// || P A - L U || / (n || A || eps).
template <class T>
double pivoted_residual(Dense<T> a, const PivotedFactors<T>& of, std::int32_t tile) {
  exchange_rows(a, of.pivots, 0, of.pivots.size(), 0, a.columns);
  return lu_residual(a, in_lapack_order(of, tile));
}
/// The largest element of U, over that of A.
template <class T>
double growth(const Dense<T>& a, const Dense<T>& factors) {
  T of_a = 0, of_u = 0;
  for (const T element : a.elements) of_a = std::max(of_a, std::abs(element));
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i <= j; ++i) of_u = std::max(of_u, std::abs(factors(i, j)));
  return static_cast<double>(of_u) / static_cast<double>(of_a);
}

template <class T>
class PivotedLu : public ::testing::Test {};
using PrecisionsOfPivotedLu = BothOrFirst<double, float>;
TYPED_TEST_SUITE(PivotedLu, PrecisionsOfPivotedLu);

TYPED_TEST(PivotedLu, HasThePivotsAndTheGrowthOfLapack) {
  using T = TypeParam;
  for (const int n : {1, 2, 3, 31, 32, 33, 61, 64, 65, 127, 193, 257}) {
    if (std::is_same_v<T, float> && n > 100) continue;  // pivots that differ by less than rounding errors
    const auto a = dense<T>(*uniform<T>(n, n, 7));
    const auto lapack = lapack_factors(a);
    const auto own = pivoted<T>(given(a), 32);
    EXPECT_EQ(own.pivots, lapack.pivots) << n;
    EXPECT_NEAR(growth(a, own.factors), growth(a, lapack.factors), 1e-3 * growth(a, lapack.factors)) << n;
    EXPECT_LT(pivoted_residual(a, own, 32), 30) << n;
  }
}

TYPED_TEST(PivotedLu, FactorsTallMatrices) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair(2, 1), {40, 17}, {33, 32}, {100, 33}, {96, 64}, {90, 89}}) {
    const auto a = dense<T>(*uniform<T>(m, n, 3));
    const auto own = pivoted<T>(given(a), 16);
    EXPECT_EQ(own.pivots, lapack_factors(a).pivots) << m << " x " << n;
    EXPECT_LT(pivoted_residual(a, own, 16), 30) << m << " x " << n;
  }
}

TYPED_TEST(PivotedLu, SolvesAsAccuratelyAsLapack) {
  using T = TypeParam;
  for (const int n : {1, 2, 5, 31, 32, 33, 65, 127, 257})
    for (const int columns : {1, 7, 40}) {
      const auto a = dense<T>(*uniform<T>(n, n, 9)), b = dense<T>(GeneratedUniform<T>(n, columns, 2));
      const auto x = pivoted_solution<T>(given(a), b, 32), lapack = gesv(a, b);
      EXPECT_LE(solution_residual(a, x, b), 2 * solution_residual(a, lapack, b) + 0.5)
          << n << ", " << columns << " columns";
    }
}

TYPED_TEST(PivotedLu, SolvesWithTheTransposedMatrix) {
  using T = TypeParam;
  for (const int n : {1, 2, 20, 33, 97, 128})
    for (const int columns : {1, 5, 25}) {
      const auto a = dense<T>(*uniform<T>(n, n, 4)), b = dense<T>(GeneratedUniform<T>(n, columns, 2));
      const auto x = pivoted_solution<T>(given(a), b, 20, {}, Solve::transposed);
      const auto of_transpose = transposed_of(a);
      EXPECT_LE(solution_residual(of_transpose, x, b),
                4 * solution_residual(of_transpose, gesv(of_transpose, b), b) + 1)
          << n << ", " << columns << " columns";
    }
}

// Every element grows by 2 in each step, exactly: the last element of U is 2^(n - 1).
TYPED_TEST(PivotedLu, GrowsOnWilkinsonsMatrix) {
  using T = TypeParam;
  const int n = 60;
  auto a = zeros<T>(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) a(i, j) = -1;
    a(i, i) = a(i, n - 1) = 1;
  }
  EXPECT_EQ(pivoted<T>(given(a), 16).factors(n - 1, n - 1), std::ldexp(T{1}, n - 1));
}

TYPED_TEST(PivotedLu, FindsPivotsAnywhereInTheColumn) {
  using T = TypeParam;
  const int n = 90;
  for (const int shift : {1, 17, 30, 45, 89}) {
    auto a = zeros<T>(n, n);
    for (int i = 0; i < n; ++i) a((i + shift) % n, i) = static_cast<T>(i + 1);
    const auto b = dense<T>(GeneratedUniform<T>(n, 2, 2));
    const auto x = pivoted_solution<T>(given(a), b, 16);
    const auto y = pivoted_solution<T>(given(a), b, 16, {}, Solve::transposed);
    for (int i = 0; i < n; ++i) {
      // The library may multiply by the rounded inverse of a pivot.
      constexpr T rounding = 2 * std::numeric_limits<T>::epsilon();
      const T exact = b((i + shift) % n, 0) / static_cast<T>(i + 1), other = b(i, 1) / static_cast<T>(i + 1);
      EXPECT_NEAR(x(i, 0), exact, rounding * std::abs(exact)) << shift;
      EXPECT_NEAR(y((i + shift) % n, 1), other, rounding * std::abs(other)) << shift;
    }
  }
}

TYPED_TEST(PivotedLu, NamesTheColumnWhereTheMatrixIsSingular) {
  using T = TypeParam;
  for (const int bad : {0, 1, 31, 32, 70, 99}) {
    auto a = dense<T>(*uniform<T>(100, 100, 3));
    for (int i = 0; i < 100; ++i) a(i, bad) = 0;
    try {
      pivoted<T>(given(a), 32);
      FAIL() << "nothing was thrown";
    } catch (const NumericalError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("the pivot in column " + std::to_string(bad) +
                                                     ", counted from 0, is zero"));
    }
  }
}

TYPED_TEST(PivotedLu, AcceptsTinyPivots) {
  using T = TypeParam;
  auto a = dense<T>(*uniform<T>(50, 50, 3));
  for (int i = 0; i < 50; ++i) a(i, 20) = std::ldexp(a(i, 20), std::numeric_limits<T>::min_exponent + 20);
  EXPECT_EQ(pivoted<T>(given(a), 16).pivots.size(), 50u);
}

// Libraries multiply by the reciprocal of a pivot, which is infinite here.
TYPED_TEST(PivotedLu, DividesByPivotsWhoseReciprocalsOverflow) {
  using T = TypeParam;
  auto a = dense<T>(*uniform<T>(50, 50, 3));
  for (int i = 0; i < 50; ++i)
    a(i, 20) = static_cast<T>(i % 7 - 3) * 16 * std::numeric_limits<T>::denorm_min();
  const auto own = pivoted<T>(given(a), 16);
  for (const T element : own.factors.elements) EXPECT_TRUE(std::isfinite(element));
  EXPECT_LT(pivoted_residual(a, own, 16), 30);
  for (std::int64_t j = 0; j < 50; ++j)
    for (std::int64_t i = j + 1; i < 50; ++i) EXPECT_LE(std::abs(own.factors(i, j)), 1);
}

TYPED_TEST(PivotedLu, NamesTheColumnWhereAPivotIsNotFinite) {
  using T = TypeParam;
  auto a = dense<T>(*uniform<T>(100, 100, 3));
  a(70, 50) = std::numeric_limits<T>::infinity();
  EXPECT_THAT([&] { pivoted<T>(given(a), 32); },
              ::testing::ThrowsMessage<NumericalError>(
                  ::testing::HasSubstr("the pivot in column 50, counted from 0, is not finite")));
}

TYPED_TEST(PivotedLu, GivesTheSameBitsInAnyMemoryUnderAnyPolicy) {
  using T = TypeParam;
  const int n = 520, tile = 48;  // 11 x 11 tiles, the last of 40
  const auto a = uniform<T>(n, n, 11);
  const auto in_core = pivoted<T>(a, tile);
  EXPECT_EQ(in_core.blocks, 1u);
  EXPECT_LT(pivoted_residual(dense<T>(*a), in_core, tile), 30);
  const Bytes tile_bytes = (tile * tile * sizeof(T) + 4095) / 4096 * 4096;
  std::size_t turn = 0;
  for (const char* policy : {"eager", "lws", "darts", "blocks", "urgent", "what-if"})
    for (const Bytes tiles : {24, 31, 45, 70, 140}) {
      if (fairlead::tests::left_out(turn++, 5)) continue;
      const auto out_of_core = pivoted<T>(a, tile, {.memory = tiles * tile_bytes, .scheduler = policy});
      EXPECT_TRUE(out_of_core == in_core) << policy << ", memory of " << tiles << " tiles";
      EXPECT_EQ(out_of_core.blocks > 1, tiles < 132) << policy << ", " << tiles;
      EXPECT_EQ(out_of_core.bytes_read > 0, tiles < 121) << policy << ", " << tiles;
    }
}

TYPED_TEST(PivotedLu, SolvesForManyRightHandSidesOutOfCore) {
  using T = TypeParam;
  const int n = 300, tile = 32, columns = 100;
  const auto a = dense<T>(*uniform<T>(n, n, 5)), b = dense<T>(GeneratedUniform<T>(n, columns, 2));
  const Setting small{.memory = Bytes{26} * 8192};
  for (const Solve which : {Solve::plain, Solve::transposed})
    EXPECT_TRUE(pivoted_solution<T>(given(a), b, tile, small, which) ==
                pivoted_solution<T>(given(a), b, tile, {}, which));
}

TYPED_TEST(PivotedLu, GivesTheSameBitsOnDevices) {
  using T = TypeParam;
  const auto a = uniform<T>(200, 200, 11);
  EXPECT_TRUE(pivoted<T>(a, 32, {.scheduler = "dmda", .devices = "emulated:memory=1MiB"}) ==
              pivoted<T>(a, 32));
}

TYPED_TEST(PivotedLu, GivesTheSameBitsOverRanks) {
  using T = TypeParam;
  const int n = 170, tile = 16;
  const auto source = uniform<T>(n, n, 13);
  const auto a = dense<T>(*source), b = dense<T>(GeneratedUniform<T>(n, 20, 2));
  const auto alone = pivoted<T>(source, tile);
  const auto x_alone = pivoted_solution<T>(source, b, tile);
  const auto y_alone = pivoted_solution<T>(source, b, tile, {}, Solve::transposed);
  for (const bool by_columns : {true, false})
    for (const Bytes memory : {plenty, Bytes{60} * 4096}) {
      const auto config = [&](std::uint32_t rank) {
        return config_of({.workers = 1 + rank % 2, .memory = memory + rank * 4096});
      };
      auto factors = zeros<T>(n, n), x = zeros<T>(n, 20), y = x;
      std::mutex mutex;
      const auto thrown = fairlead::tests::on_ranks(3, config, [&](Runtime& runtime) {
        const Distribution distribution = by_columns ? Distribution::by_columns(3) : Distribution::by_rows(3);
        const auto tiled = runtime.tiled<T>("A", n, n, tile, distribution);
        const auto tiled_x = runtime.tiled<T>("x", n, 20, tile, distribution);
        const auto tiled_y = runtime.tiled<T>("y", n, 20, tile, distribution);
        const RowPivots<T> p(runtime, tiled);
        Flow flow(runtime);
        fill<T>(flow, source, tiled, Tiles::all);
        fill<T>(flow, given(b), tiled_x, Tiles::all);
        fill<T>(flow, given(b), tiled_y, Tiles::all);
        factor_lu_pivoted(flow, kernels(), tiled, p);
        solve_lu_pivoted_factored(flow, kernels(), tiled, p, tiled_x);
        solve_lu_pivoted_transposed(flow, kernels(), tiled, p, tiled_y);
        wait_for_results(flow);
        const auto keep = [&](Dense<T>& into, const TiledMatrix<T>& from) {
          for (std::int32_t i = 0; i < from.tile_rows(); ++i)
            for (std::int32_t j = 0; j < from.tile_columns(); ++j) {
              if (distribution.owner(i, j) != runtime.rank()) continue;
              const auto hold = flow.acquire(read(from(i, j)));
              const auto view = hold.template get<0>();
              const std::lock_guard guard(mutex);
              for (int c = 0; c < view.columns(); ++c)
                for (int r = 0; r < view.rows(); ++r) into(i * tile + r, j * tile + c) = view(r, c);
            }
        };
        keep(factors, tiled);
        keep(x, tiled_x);
        keep(y, tiled_y);
      });
      for (const std::string& text : thrown) EXPECT_EQ(text, "");
      EXPECT_TRUE(factors == alone.factors) << by_columns << ", " << memory;
      EXPECT_TRUE(x == x_alone) << by_columns << ", " << memory;
      EXPECT_TRUE(y == y_alone) << by_columns << ", " << memory;
    }
}

TEST(PivotedLuInPlace, NeedsMemoryForTheCopyOfAPanelOnly) {
  const int n = 200, tile = 32;
  const auto source = uniform<double>(n, n, 2);
  auto a = dense<double>(*source);
  Runtime runtime(config_of({.memory = Bytes{120} << 10}));
  const auto tiled = runtime.tiled_in_place<double>("A", a.elements.data(), n, n, n, tile);
  const RowPivots<double> p(runtime, tiled);
  Flow flow(runtime);
  factor_lu_pivoted(flow, kernels(), tiled, p);
  wait_for_results(flow);
  EXPECT_TRUE(a == pivoted<double>(source, tile).factors);
}

TEST(PivotedLuMemory, StatesTheLargestTileWhosePanelsFit) {
  const int n = 1000;
  const Setting setting{.memory = Bytes{1} << 20};
  std::int32_t largest = 0;
  try {
    pivoted<double>(uniform<double>(n, n, 1), 100, setting);
    FAIL() << "nothing was thrown";
  } catch (const FootprintError& error) {
    const std::string text = error.what(), before = "use tiles of at most ";
    EXPECT_THAT(text, ::testing::HasSubstr("A panel of 1000 rows is factored as a whole"));
    largest = std::stoi(text.substr(text.find(before) + before.size()));
  }
  EXPECT_GT(largest, 50);
  EXPECT_THROW(pivoted<double>(uniform<double>(n, n, 1), largest + 1, setting), FootprintError);
  EXPECT_LT(pivoted_residual(dense<double>(*uniform<double>(n, n, 1)),
                             pivoted<double>(uniform<double>(n, n, 1), largest, setting), largest),
            30);
}

TEST(PivotedLuShapes, MismatchIsRejected) {
  Runtime runtime(config_of({}));
  const auto wide = runtime.tiled<double>("A", 10, 20, 5), tall = runtime.tiled<double>("A", 20, 10, 5);
  const auto a = runtime.tiled<double>("A", 20, 20, 5), b = runtime.tiled<double>("b", 19, 1, 5);
  EXPECT_THROW(RowPivots<double>(runtime, wide), UsageError);
  const RowPivots<double> p(runtime, a), of_tall(runtime, tall);
  Flow flow(runtime);
  EXPECT_THROW(factor_lu_pivoted(flow, kernels(), a, of_tall), UsageError);
  EXPECT_THROW(solve_lu_pivoted_factored(flow, kernels(), a, p, b), UsageError);
  EXPECT_THROW(solve_lu_pivoted_transposed(flow, kernels(), tall, of_tall, tall), UsageError);
  EXPECT_EQ(flow.submitted(), 0u);
}

TEST(PivotedLuTasks, AreAsManyAsTheFormulaStates) {
  for (const auto& [m, n] : {std::pair(1, 1), {40, 40}, {64, 64}, {65, 65}, {200, 200}, {200, 70}}) {
    Runtime runtime(config_of({}));
    const auto a = runtime.tiled<double>("A", m, n, 32);
    const RowPivots<double> p(runtime, a);
    const Kernels counting = Kernels::load();
    Flow flow(runtime);
    fill<double>(flow, uniform<double>(m, n, 1), a, Tiles::all);
    const auto before = flow.submitted();
    factor_lu_pivoted(flow, counting, a, p);
    EXPECT_EQ(flow.submitted() - before, lu_pivoted_tasks(a.tile_rows(), a.tile_columns()));
    if (m == n) {
      const auto b = runtime.tiled<double>("b", n, 50, 32);
      fill<double>(flow, uniform<double>(n, 50, 1), b, Tiles::all);
      const auto factored = flow.submitted();
      solve_lu_pivoted_factored(flow, kernels(), a, p, b);
      EXPECT_EQ(flow.submitted() - factored, lu_pivoted_solve_tasks(a.tile_rows(), 2));
      solve_lu_pivoted_transposed(flow, kernels(), a, p, b);
      EXPECT_EQ(flow.submitted() - factored, 2 * lu_pivoted_solve_tasks(a.tile_rows(), 2));
    }
    wait_for_results(flow);
    const double rows = m, columns = n;
    EXPECT_NEAR(counting.flops_done(), columns * columns * (rows - columns / 3),
                (rows + columns) * columns * 2)
        << m << " x " << n;
  }
}

TEST(ColumnBlocks, AreOneIfTheMatrixFits) {
  EXPECT_EQ(column_blocks({.tile_rows = 10, .tile_columns = 10, .tiles_in_memory = 110, .workers = 2}),
            std::vector<std::int32_t>{0});
  EXPECT_EQ(column_blocks({.tile_rows = 1, .tile_columns = 1, .tiles_in_memory = 2, .workers = 2}),
            std::vector<std::int32_t>{0});
}

TEST(ColumnBlocks, FitIntoMemoryWithAPanel) {
  for (const std::int64_t memory : {60, 144, 300, 500}) {
    const auto firsts =
        column_blocks({.tile_rows = 24, .tile_columns = 24, .tiles_in_memory = memory, .workers = 2});
    ASSERT_EQ(firsts.front(), 0);
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      const std::int64_t end = i + 1 < firsts.size() ? firsts[i + 1] : 24, width = end - firsts[i];
      ASSERT_GT(width, 0);
      if (width == 1) continue;
      EXPECT_LE(width * 24, memory);
      EXPECT_LE((width + 1) * (24 - firsts[i]), memory);
    }
  }
  EXPECT_EQ(column_blocks({.tile_rows = 3, .tile_columns = 3, .tiles_in_memory = 1, .workers = 8}),
            (std::vector<std::int32_t>{0, 1, 2}));
}

}  // namespace
}  // namespace fairlead::linalg::testing::pivoted_lu
