// The norm of the inverse of a matrix that is not symmetric, after each factorization, compared with the inverse itself,
// computed by plain elimination.
#include <fairlead/incremental_lu.hpp>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/qr.hpp>

#include <gtest/gtest.h>

#include "algorithms/linalg/norm_by_elimination.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

double estimated(Runtime& runtime, std::int64_t n, std::int32_t tile, const AppliedInverse<double>& inverse) {
  Flow flow(runtime);
  InverseNorm<double> norm(runtime, n, tile, inverse);
  while (!norm.done()) {
    norm.submit(flow);
    wait_for_results(flow);
  }
  return norm.value();
}

void expect_close(double found, double exact, const char* what) {
  EXPECT_LE(found, exact * 1.0001) << what;  // a lower bound but for roundings
  EXPECT_GE(found, exact / 3) << what;
}

/// Some with a large diagonal, so that no pivoting is needed; rows and columns of different sizes.
Dense<double> unsymmetric(std::int64_t n, std::uint64_t seed) {
  auto a = dense<double>(GeneratedUniform<double>(n, n, seed, 3 * std::sqrt(static_cast<double>(n)) + 1));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      a(i, j) *= std::pow(10.0, 3.0 * static_cast<double>(i - j / 2) / static_cast<double>(n));
  return a;
}

TEST(InverseNormOfAny, IsCloseAfterEveryFactorization) {
  const std::int32_t tile = 24;
  for (const std::int64_t n : {1, 9, 60, 130}) {
    const auto given = unsymmetric(n, 5);
    const double exact = norm_of_inverse<long double>(given);
    const auto source = std::make_shared<GivenMatrix<double>>(given);
    Runtime runtime(config_of({}));
    const auto a = runtime.tiled<double>("A", n, n, tile);
    Flow flow(runtime);
    const auto tasks = [](std::int64_t) { return std::uint64_t{1}; };

    fill<double>(flow, source, a, Tiles::all);
    lu(flow, kernels(), a);
    wait_for_results(flow);
    expect_close(
        estimated(runtime, n, tile,
                  {[&](Flow& to, const auto& b) { solve_lu_factored(to, kernels(), a, b); },
                   [&](Flow& to, const auto& b) { solve_lu_transposed(to, kernels(), a, b); }, tasks}),
        exact, "LU");

    fill<double>(flow, source, a, Tiles::all);
    const IncrementalPivots<double> p(runtime, a);
    factor_lu_incremental(flow, kernels(), a, p);
    wait_for_results(flow);
    expect_close(
        estimated(runtime, n, tile,
                  {[&](Flow& to, const auto& b) { solve_lu_incremental_factored(to, kernels(), a, p, b); },
                   [&](Flow& to, const auto& b) { solve_lu_incremental_transposed(to, kernels(), a, p, b); },
                   tasks}),
        exact, "incremental LU");
  }
}

// A^T x = b by LU without pivoting.
TEST(TransposedLu, SolvesWithTheTransposedMatrix) {
  for (const std::int64_t n : {1, 24, 25, 97}) {
    const auto given = dense<double>(GeneratedUniform<double>(n, n, 9, static_cast<double>(n)));
    Dense<double> transposed = given;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) transposed(i, j) = given(j, i);
    const auto b = dense<double>(GeneratedUniform<double>(n, 3, 2));
    auto x = b;
    Runtime runtime(config_of({}));
    const auto a = runtime.tiled<double>("A", n, n, 24);
    const auto tiled = runtime.tiled_in_place<double>("x", x.elements.data(), n, 3, n, 24);
    Flow flow(runtime);
    fill<double>(flow, std::make_shared<GivenMatrix<double>>(given), a, Tiles::all);
    lu(flow, kernels(), a);
    solve_lu_transposed(flow, kernels(), a, tiled);
    wait_for_results(flow);
    EXPECT_LT(solution_residual(transposed, x, b), 30) << n;
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing
