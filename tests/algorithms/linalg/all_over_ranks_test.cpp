// Every algorithm over ranks, which are threads here, each with a runtime and memory of its own, beside the same as a
// flow on one rank: the bits are the same, on every grid, in core and out of core; and the values are right by LAPACK's
// criteria.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "algorithms/linalg/graph_beside_flow.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"
#include "schedule/policies.hpp"

namespace fairlead::linalg::testing {
namespace {

/// How the matrices are dealt out: A, the right-hand sides (or B), and C.
struct Dealt {
  CyclicMap a{1, 1}, b{1, 1}, c{1, 1};
  explicit Dealt(const CyclicMap& grid) : a(grid), b(grid), c(grid) {}
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(a.rank_rows * a.rank_columns); }
};

/// One rank's part of an algorithm.
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

  /// Leaves this rank's tiles in what all have.
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

TYPED_TEST(AllOverRanks, HaveTheBitsOfOneRankOnEveryGrid) {
  using T = TypeParam;
  if (fairlead::tests::thread_sanitized) GTEST_SKIP() << "BLAS is not built for it";
  for (const Algorithm algorithm : algorithms)
    for (const Sizes& sizes : sizes_of(algorithm)) {
      const Made<T> by_one = made<T>(algorithm, sizes, By::flow, {.workers = 1});
      for (const CyclicMap& grid : all_grids) {
        const Made<T> by_ranks = made_by_ranks<T>(algorithm, sizes, Dealt(grid), {.workers = 1});
        const std::string what = name_of(algorithm) + ", " + sizes.text() + ", " + text_of(grid);
        EXPECT_TRUE(by_ranks.factors == by_one.factors) << what;
        EXPECT_TRUE(by_ranks.solution == by_one.solution) << what;
      }
    }
}

}  // namespace
}  // namespace fairlead::linalg::testing
