// The condition estimate compared with the norm of the full inverse: never above it, never far below.
#include <fairlead/error.hpp>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/refined_solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "algorithms/linalg/rounded_matrix.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"

namespace fairlead::linalg::testing {
namespace {

struct Estimate {
  double value;       // of the norm of the inverse
  double true_value;  // from the solution for the identity
  std::uint64_t tasks;
};

template <class T>
Estimate estimate(Runtime& runtime, const Dense<T>& a, std::int32_t tile) {
  const auto l = runtime.tiled<T>("A", a.rows, a.rows, tile, Tiles::lower);
  Flow flow(runtime);
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(a), l, Tiles::lower);
  cholesky(flow, kernels(), l);
  wait_for_results(flow);

  const std::uint64_t before = flow.submitted();
  InverseNorm<T> inverse(runtime, kernels(), l);
  const std::uint64_t promised = inverse.tasks();
  while (!inverse.done()) {
    inverse.submit(flow);
    wait_for_results(flow);
  }
  Estimate result{inverse.value(), 0, flow.submitted() - before};
  EXPECT_EQ(result.tasks, InverseNorm<T>::steps * promised);

  Dense<T> identity{a.rows, a.rows, std::vector<T>(a.elements.size())};
  for (std::int64_t i = 0; i < a.rows; ++i) identity(i, i) = 1;
  auto b = runtime.tiled<T>("B", a.rows, a.rows, tile);
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(identity), b, Tiles::all);
  solve_factored(flow, kernels(), l, b);
  const Dense<T> whole = fetch(flow, b);
  for (std::int64_t j = 0; j < a.rows; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += std::abs(static_cast<double>(whole(i, j)));
    result.true_value = std::max(result.true_value, sum);
  }
  return result;
}

template <class T>
Estimate estimate(const Dense<T>& a, std::int32_t tile, const Setting& setting = {}) {
  Runtime runtime(config_of(setting));
  return estimate(runtime, a, tile);
}

/// H D H with a random reflection H: the condition is that of D.
Dense<double> of_spectrum(const std::vector<double>& spectrum, std::uint64_t seed) {
  const auto n = static_cast<std::int64_t>(spectrum.size());
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> v(spectrum.size());
  double square = 0;
  for (double& x : v) {
    x = normal(random);
    square += x * x;
  }
  for (double& x : v) x /= std::sqrt(square);
  double vdv = 0;
  for (std::size_t i = 0; i < v.size(); ++i) vdv += v[i] * spectrum[i] * v[i];
  Dense<double> a{n, n, std::vector<double>(spectrum.size() * spectrum.size())};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto r = static_cast<std::size_t>(std::max(i, j)), c = static_cast<std::size_t>(std::min(i, j));
      a(i, j) =
          (r == c ? spectrum[r] : 0) - 2 * v[r] * v[c] * (spectrum[r] + spectrum[c]) + 4 * vdv * v[r] * v[c];
    }
  return a;
}

/// The usual test matrices of estimators: spectra, graded, kernels, differences.
std::vector<std::pair<std::string, Dense<double>>> matrices(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto size = static_cast<std::size_t>(n);
  const auto made = [n, size](const auto& element) {
    Dense<double> a{n, n, std::vector<double>(size * size)};
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) a(i, j) = element(std::max(i, j), std::min(i, j));
    return a;
  };
  std::vector<std::pair<std::string, Dense<double>>> all;
  std::vector<double> spectrum(size);
  for (std::size_t i = 0; i < size; ++i)
    spectrum[i] = std::pow(10.0, -6.0 * static_cast<double>(i) / static_cast<double>(size));
  all.emplace_back("geometric", of_spectrum(spectrum, seed));
  std::ranges::fill(spectrum, 1.0);
  spectrum[0] = 1e-7;
  all.emplace_back("one small", of_spectrum(spectrum, seed));
  spectrum[0] = 1e7;
  all.emplace_back("one large", of_spectrum(spectrum, seed));
  all.emplace_back("dominant diagonal", dense<double>(GeneratedSpd<double>(n, seed)));
  all.emplace_back("differences", made([](std::int64_t i, std::int64_t j) {
                     return i == j ? 2.0 : i == j + 1 ? -1.0 : 0.0;
                   }));
  std::vector<double> grade(size);
  for (double& g : grade) g = std::pow(10.0, 4 * uniform(random));
  all.emplace_back("graded", made([&](std::int64_t i, std::int64_t j) {
                     return grade[static_cast<std::size_t>(i)] * grade[static_cast<std::size_t>(j)] *
                            (i == j ? 1.0 : 0.1);
                   }));
  std::vector<double> points(size);
  for (double& p : points) p = 5 * uniform(random);
  all.emplace_back("kernel", made([&](std::int64_t i, std::int64_t j) {
                     const double d =
                         points[static_cast<std::size_t>(i)] - points[static_cast<std::size_t>(j)];
                     return std::exp(-d * d / 2) + (i == j ? 1e-6 : 0);
                   }));
  std::vector<double> factor(size * size);
  for (double& f : factor) f = uniform(random);
  all.emplace_back("random factor", made([&](std::int64_t i, std::int64_t j) {
                     double sum = i == j ? 1e-3 : 0;
                     for (std::size_t k = 0; k < size; ++k)
                       sum += factor[static_cast<std::size_t>(i) * size + k] *
                              factor[static_cast<std::size_t>(j) * size + k];
                     return sum;
                   }));
  return all;
}

TEST(InverseNorm, IsAtMostAThirdBelowTheTrueNormAndNeverAbove) {
  Runtime runtime(config_of({}));
  for (const std::int64_t n : {1, 2, 7, 8, 9, 40, 130})
    for (std::uint64_t seed = 1; seed <= (tests::many_cases() ? 6 : 2); ++seed)
      for (const auto& [name, a] : matrices(n, seed)) {
        const Estimate made = estimate(runtime, a, n == 40 ? 5 : 32);
        EXPECT_LE(made.value, made.true_value * (1 + 1e-6)) << name << ", n = " << n << ", seed " << seed;
        EXPECT_GE(made.value, made.true_value / 3) << name << ", n = " << n << ", seed " << seed;
      }
}

TEST(InverseNorm, IsThatOfTheFactorInSinglePrecision) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto made = estimate(dense<float>(RoundedMatrix(std::make_shared<GivenMatrix<double>>(
                                   of_spectrum({1, 1, 1, 1e-3, 0.5, 2, 3, 1, 1, 1, 0.3}, seed)))),
                               4);
    EXPECT_LE(made.value, made.true_value * (1 + 1e-3));
    EXPECT_GE(made.value, made.true_value / 3);
  }
}

// Hilbert's matrix of order 10: the condition is 3.5e13, known from the inverse in integers.
TEST(InverseNorm, IsExactForHilbertsMatrix) {
  Dense<double> a{10, 10, std::vector<double>(100)};
  for (std::int64_t j = 0; j < 10; ++j)
    for (std::int64_t i = 0; i < 10; ++i) a(i, j) = 1.0 / static_cast<double>(i + j + 1);
  EXPECT_NEAR(estimate(a, 4).value, 1.2070e13, 0.02e13);
}

// 0.95^|i - j|: all rows of the inverse are alike, and few of them are estimated. The vector with the signs of the weights
// finds the one in which nothing cancels.
TEST(InverseNorm, OfSignedWeightsIsNotBelowTheSolutionForThem) {
  constexpr std::int64_t n = 180;
  Dense<double> a{n, n, std::vector<double>(n * n)};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = std::pow(0.95, static_cast<double>(std::abs(i - j)));
  Runtime runtime(config_of({}));
  const auto l = runtime.tiled<double>("A", n, n, 24, Tiles::lower);
  Flow flow(runtime);
  fill<double>(flow, std::make_shared<GivenMatrix<double>>(a), l, Tiles::lower);
  cholesky(flow, kernels(), l);
  wait_for_results(flow);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.5, 1);
  for (const std::int64_t at : {1, 77, 134}) {
    std::vector<double> weights(n);
    for (double& weight : weights) weight = uniform(random) * (uniform(random) < 0.75 ? -1 : 1);
    for (std::int64_t i = at - 1; i <= at + 1; ++i)
      weights[static_cast<std::size_t>(i)] = i == at ? 1.1 : -1.1;
    Dense<double> side{n, 1, weights};
    const auto b = runtime.tiled<double>("b", n, 1, 24);
    fill<double>(flow, std::make_shared<GivenMatrix<double>>(side), b, Tiles::all);
    solve_factored(flow, kernels(), l, b);
    const Dense<double> x = fetch(flow, b);
    double largest = 0, absolute = 0;
    for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x(i, 0)));
    InverseNorm<double> inverse(runtime, kernels(), l, weights);
    while (!inverse.done()) {
      inverse.submit(flow);
      wait_for_results(flow);
    }
    EXPECT_GE(inverse.weighted_value(), largest * (1 - 1e-12));
    for (const RowOfInverse& row : inverse.rows()) {
      EXPECT_GT(row.weighted_sum, 0);
      absolute = std::max(absolute, row.weighted_sum);
    }
    EXPECT_EQ(absolute, inverse.weighted_value());
  }
}

TEST(InverseNorm, IsEqualInAndOutOfCoreUnderAnyPolicyAndWithDevices) {
  const auto a = of_spectrum(std::vector<double>(300, 1), 3);
  auto graded = a;
  for (std::int64_t i = 0; i < 300; ++i) graded(i, i) += static_cast<double>(i);
  const double expected = estimate(graded, 48).value;
  for (const char* policy : {"eager", "lws", "blocks", "dmdas"})
    for (const char* devices : {"", "emulated:memory=400KiB"}) {
      const Estimate made =
          estimate(graded, 48, {.memory = 400 << 10, .scheduler = policy, .devices = devices});
      EXPECT_EQ(made.value, expected) << policy << " " << devices;
    }
}

// Refinement computes its corrections with the same factor: the estimate costs no additional sweep.
TEST(InverseNorm, SharesTheSweepsOfRefinement) {
  const int n = 200, tile = 32;
  std::vector<double> spectrum(n, 1);
  spectrum[3] = 1e-3;
  const auto a = of_spectrum(spectrum, 5);
  const auto source = std::make_shared<GivenMatrix<double>>(a);
  const auto b = std::make_shared<GeneratedUniform<double>>(n, 2, 2);
  Dense<double> x = dense<double>(*b), alone = x;
  Runtime runtime(config_of({}));
  const auto l = runtime.tiled<float>("A", n, n, tile, Tiles::lower);
  Flow flow(runtime);
  fill<float>(flow, std::make_shared<RoundedMatrix>(source), l, Tiles::lower);
  cholesky(flow, kernels(), l);
  wait_for_results(flow);
  const auto refine = [&](double* solution, InverseNorm<float>* along) {
    RefinedSolve<float> solve(runtime, kernels(), l, source, b, solution);
    auto state = RefinedSolve<float>::State::improving;
    while (state == RefinedSolve<float>::State::improving) {
      solve.submit_correction(flow, along);
      wait_for_results(flow);
      solve.submit_residual(flow);
      wait_for_results(flow);
      state = solve.evaluate_step();
    }
    EXPECT_EQ(state, RefinedSolve<float>::State::converged);
    return solve.matrix_norm();
  };
  InverseNorm<float> inverse(runtime, kernels(), l);
  const double norm = refine(x.elements.data(), &inverse);
  EXPECT_TRUE(inverse.done());
  const double condition = norm * inverse.value();
  EXPECT_GT(condition, 1e3);
  EXPECT_LT(condition, 1e5);
  refine(alone.elements.data(), nullptr);
  EXPECT_TRUE(x == alone);  // bit for bit: the vectors have separate tiles
}

TEST(InverseNorm, StopsAfterItsSteps) {
  Runtime runtime(config_of({}));
  const auto l = runtime.tiled<double>("A", 20, 20, 8, Tiles::lower);
  Flow flow(runtime);
  fill<double>(flow, std::make_shared<GeneratedSpd<double>>(20, 1), l, Tiles::lower);
  cholesky(flow, kernels(), l);
  InverseNorm<double> inverse(runtime, kernels(), l);
  while (!inverse.done()) {
    inverse.submit(flow);
    wait_for_results(flow);
  }
  EXPECT_THROW(inverse.submit(flow), UsageError);
}

}  // namespace
}  // namespace fairlead::linalg::testing
