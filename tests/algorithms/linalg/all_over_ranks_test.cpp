// Every algorithm over ranks (threads here, each with its own runtime and memory) compared with a flow on one rank: the
// bits are equal on every grid, in core and out of core, and the values are accurate by LAPACK's criteria.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/graph_or_flow.hpp"
#include "at_length.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"
#include "schedule/policies.hpp"

namespace fairlead::linalg::testing {
namespace {

/// The distributions of the matrices: A, the right-hand sides (or B), and C.
struct Dealt {
  CyclicMap a{1, 1}, b{1, 1}, c{1, 1};
  explicit Dealt(const CyclicMap& grid) : a(grid), b(grid), c(grid) {}
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(a.rank_rows * a.rank_columns); }
};

/// An algorithm on one rank.
template <class T>
class OneOfRanks {
 public:
  OneOfRanks(Runtime& runtime, Algorithm algorithm, const Sizes& sizes, const Dealt& dealt)
      : runtime_(runtime),
        algorithm_(algorithm),
        a_(runtime.tiled<T>("A", sizes.m, sizes.n, sizes.tile, Distribution(dealt.a),
                            algorithm == Algorithm::cholesky ? Tiles::lower : Tiles::all)),
        b_(runtime.tiled<T>("B", is_product(algorithm) ? sizes.n : sizes.m, sizes.columns, sizes.tile,
                            Distribution(dealt.b))),
        flow_(runtime) {
    if (algorithm == Algorithm::lu_incremental) pivots_.emplace(runtime, a_);
    if (is_qr(algorithm))
      reflectors_.emplace(runtime, a_, algorithm == Algorithm::qr_flat ? QrTree::flat : QrTree::binary);
    if (is_product(algorithm))
      c_.emplace(runtime.tiled<T>("C", sizes.m, sizes.columns, sizes.tile, Distribution(dealt.c)));
    fill(a_, *matrix());
    fill(b_, GeneratedUniform<T>(b_.rows(), b_.columns(), 6));
    if (algorithm == Algorithm::sum_of_product) fill(*c_, GeneratedUniform<T>(c_->rows(), c_->columns(), 8));
    flow_.wait();
  }

  /// Copies this rank's tiles into the result shared by all ranks.
  void run(Made<T>& made) {
    run([this](ptg::Graph& graph) { factor(graph); });
    if (!is_product(algorithm_)) run([this](ptg::Graph& graph) { solve(graph); });
    take(is_product(algorithm_) ? *c_ : a_, made.factors);
    take(b_, made.solution);
  }

 private:
  template <class Part>
  void run(const Part& part) {
    ptg::Graph graph(runtime_);
    part(graph);
    run_for_results(graph);
  }
  template <class F>
  void for_each_tile(const TiledMatrix<T>& of, const F& f) {
    for (std::int32_t i = 0; i < of.tile_rows(); ++i)
      for (std::int32_t j = 0; j < of.tile_columns(); ++j)
        if ((!of.lower_only() || j <= i) && of.distribution()->owner(i, j) == runtime_.rank())
          f(std::int64_t{i} * of.tile(), std::int64_t{j} * of.tile(), of(i, j));
  }
  void fill(const TiledMatrix<T>& of, const MatrixSource<T>& source) {
    for_each_tile(of, [&](std::int64_t row, std::int64_t column, const Handle<Tile<T>>& handle) {
      auto hold = flow_.acquire(write(handle));
      const auto tile = hold.template get<0>();
      source.read(row, handle.rows(), column, handle.columns(), tile.data(), tile.leading_dimension());
    });
  }
  void take(const TiledMatrix<T>& from, Dense<T>& all) {
    for_each_tile(from, [&](std::int64_t row, std::int64_t column, const Handle<Tile<T>>& handle) {
      auto hold = flow_.acquire(read(handle));
      const auto tile = hold.template get<0>();
      for (std::int32_t i = 0; i < handle.rows(); ++i)
        for (std::int32_t j = 0; j < handle.columns(); ++j)
          if (!from.lower_only() || row + i >= column + j) all(row + i, column + j) = tile(i, j);
    });
  }
  std::shared_ptr<const MatrixSource<T>> matrix() const {
    if (algorithm_ == Algorithm::cholesky) return std::make_shared<GeneratedSpd<T>>(a_.rows(), 5);
    if (algorithm_ != Algorithm::lu) return std::make_shared<GeneratedUniform<T>>(a_.rows(), a_.columns(), 5);
    return std::make_shared<GeneratedUniform<T>>(a_.rows(), a_.columns(), 5, static_cast<double>(a_.rows()));
  }
  void factor(ptg::Graph& graph) {
    switch (algorithm_) {
      case Algorithm::cholesky:
        return cholesky(graph, kernels(), a_);
      case Algorithm::lu:
        return lu(graph, kernels(), a_);
      case Algorithm::lu_incremental:
        return factor_lu_incremental(graph, kernels(), a_, *pivots_);
      case Algorithm::qr_flat:
      case Algorithm::qr_binary:
        return factor_qr(graph, kernels(), a_, *reflectors_);
      case Algorithm::sum_of_product:
        return multiply<T>(graph, kernels(), T(0.5), a_, b_, T(-2), *c_);
      case Algorithm::product:
        return multiply<T>(graph, kernels(), T(0.5), a_, b_, T(0), *c_);
    }
  }
  void solve(ptg::Graph& graph) {
    switch (algorithm_) {
      case Algorithm::cholesky:
        return solve_factored(graph, kernels(), a_, b_);
      case Algorithm::lu:
        return solve_lu_factored(graph, kernels(), a_, b_);
      case Algorithm::lu_incremental:
        return solve_lu_incremental_factored(graph, kernels(), a_, *pivots_, b_);
      default:
        return solve_qr_factored(graph, kernels(), a_, *reflectors_, b_);
    }
  }

  Runtime& runtime_;
  Algorithm algorithm_;
  TiledMatrix<T> a_, b_;
  std::optional<TiledMatrix<T>> c_;
  std::optional<IncrementalPivots<T>> pivots_;
  std::optional<QrReflectors<T>> reflectors_;
  Flow flow_;
};

template <class T>
Dense<T> zeros(std::int64_t rows, std::int64_t columns) {
  return {rows, columns, std::vector<T>(static_cast<std::size_t>(rows * columns))};
}

template <class T>
Made<T> made_by_ranks(Algorithm algorithm, const Sizes& sizes, const Dealt& dealt, const Setting& setting) {
  Made<T> made;
  made.factors = zeros<T>(sizes.m, is_product(algorithm) ? sizes.columns : sizes.n);
  made.solution = zeros<T>(is_product(algorithm) ? sizes.n : sizes.m, sizes.columns);
  std::atomic<Bytes> read{0};
  const auto thrown = tests::on_ranks(
      dealt.ranks(), [&](std::uint32_t) { return config_of(setting); },
      [&](Runtime& runtime) {
        OneOfRanks<T>(runtime, algorithm, sizes, dealt).run(made);
        read += runtime.disk_traffic().read;
      });
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
  made.bytes_read = read;
  return made;
}

std::string text_of(const CyclicMap& grid) {
  return std::to_string(grid.rank_rows) + " x " + std::to_string(grid.rank_columns);
}

constexpr CyclicMap all_grids[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}};

template <class T>
class AllOverRanks : public ::testing::Test {};
using RankPrecisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(AllOverRanks, RankPrecisions);

std::vector<Sizes> sizes_of(Algorithm algorithm) {
  if (is_qr(algorithm))
    return {{1, 1, 1, 16}, {61, 30, 33, 16}, {100, 16, 1, 16}, {127, 90, 2, 16}, {80, 80, 20, 16}};
  if (is_product(algorithm)) return {{1, 1, 1, 16}, {33, 90, 1, 16}, {61, 30, 33, 16}, {90, 127, 77, 16}};
  return {{1, 1, 1, 16}, {17, 17, 20, 16}, {64, 64, 1, 16}, {100, 100, 2, 16}, {127, 127, 33, 16}};
}

/// Under a sanitizer, to which they are one program, each precision sees one in so many cases, others than the other. What
/// is counted within them has no factor in common with that, so that each of it is seen.
template <class T>
bool is_left_out(std::size_t turn, std::size_t one_in) {
  return !fairlead::tests::many_cases() && turn % one_in != (std::is_same_v<T, float> ? one_in / 2 : 0);
}

TYPED_TEST(AllOverRanks, EqualOneRankBitForBitOnEveryGrid) {
  using T = TypeParam;
  std::size_t turn = 0;
  if (fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  for (const Algorithm algorithm : algorithms)
    for (const Sizes& sizes : sizes_of(algorithm)) {
      const Made<T> by_one = made<T>(algorithm, sizes, By::flow, {.workers = 1});
      for (const CyclicMap& grid : all_grids) {
        if (is_left_out<T>(turn++, 4)) continue;
        const Made<T> by_ranks = made_by_ranks<T>(algorithm, sizes, Dealt(grid), {.workers = 1});
        const std::string what = name_of(algorithm) + ", " + sizes.text() + ", " + text_of(grid);
        expect_the_same_bits(by_ranks, by_one, sizes, what);
      }
    }
}

/// Memory for the largest task and two values in transfer, in steps of a page.
template <class T>
Bytes least_memory_of_ranks(Algorithm algorithm, const Sizes& sizes, const Dealt& dealt) {
  // Bounds of the search: enough memory, and too little.
  Bytes much = 16 * (static_cast<Bytes>(sizes.tile * sizes.tile) * sizeof(T) + 4096) / 4096 * 4096,
        little = 0;
  const auto is_enough = [&](Bytes memory) {
    bool enough = true;
    Made<T> made;
    made.factors = zeros<T>(sizes.m, is_product(algorithm) ? sizes.columns : sizes.n);
    made.solution = zeros<T>(is_product(algorithm) ? sizes.n : sizes.m, sizes.columns);
    for (const std::string& text : tests::on_ranks(
             dealt.ranks(), [&](std::uint32_t) { return config_of({.workers = 1, .memory = memory}); },
             [&](Runtime& runtime) { OneOfRanks<T>(runtime, algorithm, sizes, dealt).run(made); }))
      enough &= text.empty();
    return enough;
  };
  while (much - little > 4096) {
    const Bytes memory = (little + much) / 2 / 4096 * 4096;
    (is_enough(memory) ? much : little) = memory;
  }
  return much;
}

TYPED_TEST(AllOverRanks, EqualOneRankBitForBitOutOfCore) {
  using T = TypeParam;
  std::size_t turn = 0;
  if (fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  constexpr int tile = 40;
  for (const Algorithm algorithm : algorithms)
    for (const int columns : {50, 3}) {
      // To the search for the least memory a precision is a size of tiles.
      if (columns == 3 && (std::is_same_v<T, float> || !fairlead::tests::many_cases())) continue;
      const Sizes sizes = is_qr(algorithm) ? Sizes{290, 190, columns, tile} : Sizes{250, 250, columns, tile};
      const Made<T> by_one = made<T>(algorithm, sizes, By::flow, {.workers = 1});
      const Dealt dealt(CyclicMap{2, 2});
      const Bytes least = least_memory_of_ranks<T>(algorithm, sizes, dealt);
      EXPECT_LT(least, 16 * (tile * tile * sizeof(T) + 4096)) << name_of(algorithm);
      for (const char* policy : {"lws", "blocks", "dmdas"}) {
        if (is_left_out<T>(turn++, 4)) continue;
        const Made<T> by_ranks =
            made_by_ranks<T>(algorithm, sizes, dealt, {.workers = 1, .memory = least, .scheduler = policy});
        const std::string what = name_of(algorithm) + ", " + sizes.text() + ", " + policy;
        expect_the_same_bits(by_ranks, by_one, sizes, what);
        EXPECT_GT(by_ranks.bytes_read, 0u) << what;
      }
    }
}

// The matrices of one algorithm have different distributions.
TYPED_TEST(AllOverRanks, AcceptADistributionPerMatrix) {
  using T = TypeParam;
  if (fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  std::size_t turn = 0;
  for (const Algorithm algorithm : algorithms) {
    if (is_left_out<T>(turn++, 2)) continue;
    const Sizes sizes = is_qr(algorithm) ? Sizes{127, 90, 20, 16} : Sizes{127, 127, 20, 16};
    const Made<T> by_one = made<T>(algorithm, sizes, By::flow, {.workers = 1});
    Dealt dealt(CyclicMap{2, 3});
    dealt.b = CyclicMap{6, 1};
    dealt.c = CyclicMap{3, 2};
    const Made<T> by_ranks = made_by_ranks<T>(algorithm, sizes, dealt, {.workers = 2});
    expect_the_same_bits(by_ranks, by_one, sizes, name_of(algorithm));
  }
}

// Several workers, many right-hand sides, checked by LAPACK's criterion on the matrix itself.
TYPED_TEST(AllOverRanks, SolutionsAreAccurate) {
  using T = TypeParam;
  if (fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  for (const Algorithm algorithm : algorithms)
    for (const int columns : {1, 40}) {
      if (is_product(algorithm)) continue;
      const Sizes sizes{150, 150, columns, 24};
      const Made<T> by_ranks = made_by_ranks<T>(algorithm, sizes, Dealt(CyclicMap{2, 2}), {.workers = 2});
      std::shared_ptr<const MatrixSource<T>> a = std::make_shared<GeneratedUniform<T>>(150, 150, 5);
      if (algorithm == Algorithm::cholesky) a = std::make_shared<GeneratedSpd<T>>(150, 5);
      if (algorithm == Algorithm::lu) a = std::make_shared<GeneratedUniform<T>>(150, 150, 5, 150.0);
      const Dense<T> b = dense<T>(GeneratedUniform<T>(150, columns, 6));
      // Incremental pivoting lets elements grow.
      EXPECT_LT(solution_residual(dense<T>(*a), by_ranks.solution, b),
                algorithm == Algorithm::lu_incremental ? 300 : 30)
          << name_of(algorithm) << ", " << columns;
    }
}

// As `solve` does: factor, solve, gather, compute the error with the original matrix, some rows on each rank.
TYPED_TEST(AllOverRanks, EachRankGetsTheSolutionAndItsError) {
  using T = TypeParam;
  if (fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  constexpr std::int64_t n = 700, columns = 3;
  const auto source = std::make_shared<GeneratedSpd<double>>(n, 5);
  const auto right = std::make_shared<GeneratedUniform<double>>(n, columns, 6);
  std::vector<std::vector<T>> solutions(4);
  std::vector<double> errors(4);
  const auto thrown = tests::on_ranks(
      4, [](std::uint32_t) { return config_of({.workers = 1}); },
      [&](Runtime& runtime) {
        const Distribution distribution = Distribution::over(runtime.ranks());
        const auto a = runtime.tiled<T>("A", n, n, 64, distribution, Tiles::lower);
        const auto b = runtime.tiled<T>("b", n, columns, 64, distribution);
        Flow flow(runtime);
        const auto fill = [&](const TiledMatrix<T>& of, const MatrixSource<T>& from) {
          for (std::int32_t i = 0; i < of.tile_rows(); ++i)
            for (std::int32_t j = 0; j < (of.lower_only() ? i + 1 : of.tile_columns()); ++j) {
              const auto handle = of.here_or_not(i, j);
              if (handle.datum().datum == nullptr) continue;
              auto hold = flow.acquire(write(handle));
              const auto tile = hold.template get<0>();
              from.read(i * 64, handle.rows(), j * 64, handle.columns(), tile.data(),
                        tile.leading_dimension());
            }
        };
        fill(a, GeneratedSpd<T>(n, 5));
        fill(b, GeneratedUniform<T>(n, columns, 6));
        flow.wait();
        ptg::Graph factorization(runtime), solve(runtime);
        cholesky(factorization, kernels(), a);
        solve_factored(solve, kernels(), a, b);
        run_for_results(factorization);
        run_for_results(solve);
        const std::vector<T> x = allgather(runtime, b);
        BackwardError<T> error(kernels(), source, right, x.data(), columns);
        error.submit(flow, runtime.rank(), runtime.ranks());
        flow.wait();
        error.combine_ranks(runtime);
        solutions[runtime.rank()] = x;
        errors[runtime.rank()] = error.value();
      });
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
  Runtime alone(config_of({}));
  Flow flow(alone);
  BackwardError<T> error(kernels(), source, right, solutions[0].data(), columns);
  error.submit(flow);
  flow.wait();
  EXPECT_LT(error.value(), max_correct_backward_error<T>(n));
  EXPECT_GT(error.value(), 0);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(errors[rank], error.value());
    EXPECT_TRUE(solutions[rank] == solutions[0]);
  }
}

// Mismatched distributions are rejected on each rank as on one.
TEST(AllOverRanksRefuse, MatricesWithoutADistribution) {
  const auto thrown = tests::on_ranks(
      2, [](std::uint32_t) { return config_of({.workers = 1}); },
      [](Runtime& runtime) {
        const auto a = runtime.tiled<double>("A", 64, 64, 16, Distribution::over(2), Tiles::lower);
        const auto b = runtime.tiled<double>("b", 64, 1, 16);
        ptg::Graph graph(runtime);
        solve_factored(graph, kernels(), a, b);
        run_for_results(graph);
      });
  for (const std::string& text : thrown)
    EXPECT_NE(text.find("which is not distributed over the ranks"), std::string::npos) << text;
}

}  // namespace
}  // namespace fairlead::linalg::testing
