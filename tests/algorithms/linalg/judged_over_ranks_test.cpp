// Errors and norms of a solution over ranks: the same bits as on one machine, on every rank, also if only rank 0 can read
// the matrix; and only small data are sent.
#include <gtest/gtest.h>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/refined_solve.hpp>

#include <atomic>
#include <cmath>
#include <optional>
#include <vector>

#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/element_sizes.hpp"
#include "algorithms/linalg/triangle_norm.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::linalg::testing::judged_over_ranks {
namespace {

constexpr CyclicMap grids[] = {{1, 2}, {2, 1}, {2, 2}, {2, 3}};
constexpr std::int32_t tile = 16;

std::uint32_t ranks_of(const CyclicMap& grid) {
  return static_cast<std::uint32_t>(grid.rank_rows * grid.rank_columns);
}

/// On every rank of the grid, or on one; must not throw.
void everywhere(const std::optional<CyclicMap>& grid,
                const std::function<void(Runtime&, const Distribution*)>& body) {
  if (!grid) {
    Runtime runtime(config_of({}));
    return body(runtime, nullptr);
  }
  const Distribution distribution(*grid);
  for (const std::string& text : fairlead::tests::on_ranks(
           ranks_of(*grid), [](std::uint32_t) { return config_of({.workers = 1}); },
           [&](Runtime& runtime) { body(runtime, &distribution); }))
    EXPECT_EQ(text, "");
}

template <class T>
TiledMatrix<T> filled(Runtime& runtime, const Distribution* distribution,
                      std::shared_ptr<const MatrixSource<T>> source, Tiles which) {
  const std::int64_t rows = source->rows(), columns = source->columns();
  TiledMatrix<T> a = distribution == nullptr
                         ? runtime.tiled<T>("A", rows, columns, tile, which)
                         : runtime.tiled<T>("A", rows, columns, tile, *distribution, which);
  Flow flow(runtime);
  fill<T>(flow, std::move(source), a, which);
  flow.wait();
  return a;
}

/// A positive definite one, by its Cholesky factor.
template <class T>
TiledMatrix<T> factored(Runtime& runtime, const Distribution* distribution, std::int64_t n) {
  TiledMatrix<T> a = filled<T>(runtime, distribution, std::make_shared<GeneratedSpd<T>>(n, 3), Tiles::lower);
  Flow flow(runtime);
  cholesky(flow, kernels(), a);
  flow.wait();
  return a;
}

/// Of the inverse of a factored matrix.
double estimate(Runtime& runtime, const TiledMatrix<double>& l) {
  InverseNorm<double> inverse(runtime, kernels(), l);
  Flow flow(runtime);
  while (!inverse.done()) {
    inverse.submit(flow);
    flow.wait();
    inverse.combine_ranks();
  }
  return inverse.value();
}

TEST(JudgedOverRanks, TheNormOfTheInverseEqualsThatOnOneMachine) {
  if (fairlead::tests::thread_sanitized) return;
  for (const std::int64_t n : {1, 5, 100}) {
    std::vector<double> norms;
    const auto one = [&](const std::optional<CyclicMap>& grid) {
      std::vector<double> of_ranks(grid ? ranks_of(*grid) : 1);
      everywhere(grid, [&](Runtime& runtime, const Distribution* distribution) {
        of_ranks[runtime.rank()] = estimate(runtime, factored<double>(runtime, distribution, n));
      });
      norms.insert(norms.end(), of_ranks.begin(), of_ranks.end());
    };
    one(std::nullopt);
    for (const CyclicMap& grid : grids) one(grid);
    EXPECT_GT(norms[0], 0);
    for (const double norm : norms) EXPECT_EQ(norm, norms[0]) << n;
  }
}

/// Only rank 0 may read it.
class OfFirstRank final : public MatrixSource<double> {
 public:
  OfFirstRank(std::shared_ptr<const MatrixSource<double>> all, std::uint32_t rank)
      : all_(std::move(all)), rank_(rank) {}
  std::int64_t rows() const override { return all_->rows(); }
  std::int64_t columns() const override { return all_->columns(); }
  void read(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, double* out,
            std::int64_t ld) const override {
    if (rank_ != 0) throw InputError("there is no such file here");
    all_->read(row, rows, column, columns, out, ld);
  }

 private:
  std::shared_ptr<const MatrixSource<double>> all_;
  std::uint32_t rank_;
};

TEST(JudgedOverRanks, ARefinedSolutionEqualsOneMachineForAnyReaders) {
  if (fairlead::tests::thread_sanitized) return;
  constexpr std::int64_t n = 300, sides = 3;
  const auto a = std::make_shared<GeneratedSpd<double>>(n, 3);
  const auto b = std::make_shared<GeneratedUniform<double>>(n, sides, 4);
  std::vector<double> expected;
  std::vector<double> errors;
  const auto one = [&](const std::optional<CyclicMap>& grid, bool first_alone) {
    everywhere(grid, [&](Runtime& runtime, const Distribution* distribution) {
      const auto l = factored<float>(runtime, distribution, n);
      Flow flow(runtime);
      std::vector<double> x(n * sides);
      const std::uint32_t readers = first_alone ? 1 : runtime.ranks();
      RefinedSolve<float> solve(
          runtime, kernels(), l, std::make_shared<OfFirstRank>(a, first_alone ? runtime.rank() : 0),
          std::make_shared<OfFirstRank>(b, first_alone ? runtime.rank() : 0), x.data(), readers);
      auto state = RefinedSolve<float>::State::improving;
      while (state == RefinedSolve<float>::State::improving) {
        solve.submit_correction(flow);
        flow.wait();
        solve.submit_residual(flow);
        flow.wait();
        state = solve.evaluate_step();
      }
      EXPECT_EQ(state, RefinedSolve<float>::State::converged);
      if (!grid) {
        expected = x;
        errors = {solve.backward_error(), solve.matrix_norm()};
      }
      EXPECT_TRUE(x == expected);
      EXPECT_EQ(solve.backward_error(), errors[0]);
      EXPECT_EQ(solve.matrix_norm(), errors[1]);
    });
  };
  one(std::nullopt, false);
  EXPECT_LT(errors[0], 1e-14);
  for (const CyclicMap& grid : grids)
    for (const bool first_alone : {false, true})
      if (tests::many_cases() || first_alone == (grid.rank_rows == 1)) one(grid, first_alone);
}

TEST(JudgedOverRanks, ADistributedTriangleHasTheNormAndElementsOfAWholeOne) {
  constexpr std::int64_t m = 150, n = 100;
  const auto source = std::make_shared<GeneratedUniform<double>>(m, n, 9);
  const Dense<double> whole = dense<double>(*source);
  double norm = 0, largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = i; j < n; ++j) {
      sum += std::abs(whole(i, j));
      largest = std::max(largest, std::abs(whole(i, j)));
    }
    norm = std::max(norm, sum);
  }
  std::vector<double> norms;
  const auto one = [&](const std::optional<CyclicMap>& grid) {
    std::vector<double> of_ranks(grid ? ranks_of(*grid) : 1);
    everywhere(grid, [&](Runtime& runtime, const Distribution* distribution) {
      const auto a = filled<double>(runtime, distribution, source, Tiles::all);
      Flow flow(runtime);
      TriangleNorm<double> of_rows(runtime, a);
      of_rows.submit(flow);
      ElementSizes<double> sizes;
      sizes.submit(flow, a, Elements::upper);
      flow.wait();
      sizes.combine_ranks(runtime);
      of_ranks[runtime.rank()] = of_rows.combine_ranks().norm;
      EXPECT_EQ(sizes.largest(), largest);
    });
    norms.insert(norms.end(), of_ranks.begin(), of_ranks.end());
  };
  one(std::nullopt);
  for (const CyclicMap& grid : grids) one(grid);
  EXPECT_NEAR(norms[0], norm, 1e-12);
  for (const double other : norms) EXPECT_EQ(other, norms[0]);
}

TEST(JudgedOverRanks, ForOneColumnOnlyTheRightHandSideIsSent) {
  constexpr std::int64_t n = 8 * tile;
  for (const std::int32_t columns : {1, 2 * tile}) {
    std::atomic<std::uint64_t> payloads{0}, bytes{0};
    everywhere(CyclicMap{2, 2}, [&](Runtime& runtime, const Distribution* distribution) {
      const auto a =
          filled<double>(runtime, distribution, std::make_shared<GeneratedSpd<double>>(n, 3), Tiles::lower);
      Flow flow(runtime);
      cholesky(flow, kernels(), a);
      flow.wait();
      std::vector<double> x(static_cast<std::size_t>(n * columns), 1.0);
      DistributedColumns<double> b(runtime, "b", x.data(), n, columns, tile, distribution);
      const auto before = runtime.statistics().network;
      solve_factored(flow, kernels(), a, b.tiles());
      flow.wait();
      const auto after = runtime.statistics().network;
      payloads += after.payloads - before.payloads;
      bytes += after.payload_bytes - before.payload_bytes;
    });
    EXPECT_GT(payloads, 0u);
    EXPECT_EQ(bytes, payloads * tile * sizeof(double) * (columns == 1 ? 1 : tile)) << columns;
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing::judged_over_ranks
