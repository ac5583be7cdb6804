// The terms of the forward error bound: the uncertainty of the residual, and || A^-1 diag(w) ||, compared with plain sums in
// long double.
#include <fairlead/inverse_norm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/inverse_residual.hpp"
#include "algorithms/linalg/residual_sums.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

constexpr double u = 0x1p-53;

/// b - A x, and |A| |x| + |b|.
struct Plain {
  long double residual, size;
};
Plain plain(const Dense<double>& a, const double* x, double b, std::int64_t row) {
  Plain sums{static_cast<long double>(b), std::abs(static_cast<long double>(b))};
  for (std::int64_t j = 0; j < a.columns; ++j) {
    const long double product = static_cast<long double>(a(row, j)) * static_cast<long double>(x[j]);
    sums.residual -= product;
    sums.size += std::abs(product);
  }
  return sums;
}

TEST(ResidualSums, AreAccurateToAFewRoundingsForAnyStripWidth) {
  for (const int columns : {1, 7, 8, 31, 32, 33, 2000})
    for (const bool by_rows : {false, true}) {
      const int rows = 19;
      const auto a = dense<double>(GeneratedUniform<double>(rows, columns, 3));
      auto strip = a.elements;
      if (by_rows)
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) strip[static_cast<std::size_t>(i * columns + j)] = a(i, j);
      const auto x = dense<double>(GeneratedUniform<double>(columns, 1, 4));
      std::vector<double> hi(rows, 0.7), lo(rows), sums(rows), products(rows);
      const Strip given{strip.data(), rows, columns, by_rows};
      subtract_product(given, x.elements.data(), hi.data(), lo.data());
      std::vector<double> sizes(x.elements.size());
      std::ranges::transform(x.elements, sizes.begin(), [](double one) { return std::abs(one); });
      add_sizes(given, sizes.data(), sums.data(), products.data());
      for (int i = 0; i < rows; ++i) {
        const auto row = static_cast<std::size_t>(i);
        const Plain exact = plain(a, x.elements.data(), 0.7, i);
        EXPECT_LE(std::abs(static_cast<long double>(hi[row] + lo[row]) - exact.residual),
                  (roundings_of_product * u + columns * 0x1p-64) * exact.size)
            << columns << " " << by_rows;
        EXPECT_NEAR(products[row] + 0.7, static_cast<double>(exact.size), 1e-12 * columns);
        double sum = 0;
        for (int j = 0; j < columns; ++j) sum += std::abs(a(i, j));
        EXPECT_NEAR(sums[row], sum, 1e-12 * columns);
      }
    }
}

TEST(UncertainResidual, BoundsTheTrueErrorClosely) {
  const int n = 300;
  const auto a = dense<double>(GeneratedUniform<double>(n, n, 5));
  for (const int columns : {1, 3}) {
    auto x = dense<double>(GeneratedUniform<double>(n, columns, 6));
    for (int i = 0; i < n; ++i) x(i, 0) *= 1e6;  // the columns differ in size
    Dense<double> b{n, columns, std::vector<double>(static_cast<std::size_t>(n * columns))};
    for (int c = 0; c < columns; ++c)
      for (int i = 0; i < n; ++i)  // the residual is rounding only
        b(i, c) = static_cast<double>(-plain(a, &x(0, c), 0, i).residual);
    Runtime runtime(config_of({}));
    Flow flow(runtime);
    BackwardError<double> error(kernels(), std::make_shared<GivenMatrix<double>>(a),
                                std::make_shared<GivenMatrix<double>>(b), x.elements.data(), columns);
    error.submit(flow);
    wait_for_results(flow);
    error.combine_ranks(runtime);
    const auto uncertain = error.residual_bound(), sizes = error.magnitudes();
    for (int i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (int c = 0; c < columns; ++c) {
        double norm = 0;
        for (int j = 0; j < n; ++j) norm = std::max(norm, std::abs(x(j, c)));
        const Plain exact = plain(a, &x(0, c), b(i, c), i);
        EXPECT_LE(static_cast<double>(std::abs(exact.residual)) / norm, uncertain[row]);
        EXPECT_LE(static_cast<double>(exact.size) / norm, sizes[row] * (1 + 1e-12));
        EXPECT_GE(static_cast<double>(exact.size) / norm * 5, sizes[row]);
      }
      EXPECT_LE(uncertain[row], 40 * u * sizes[row]);
    }
  }
}

/// Some with a large diagonal, so that no pivoting is needed, whose rows differ in size.
Dense<double> scaled(std::int64_t n) {
  auto a = dense<double>(GeneratedUniform<double>(n, n, 8, 3 * std::sqrt(static_cast<double>(n)) + 1));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) a(i, j) *= std::pow(10.0, i * 7 % 13 - 6);
  return a;
}

TEST(InverseNorm, WithWeightsIsCloseAndHasTheRowsOfTheInverse) {
  const std::int32_t tile = 24;
  for (const std::int64_t n : {1, 5, 9, 17, 100}) {
    const auto given = scaled(n);
    const auto source = std::make_shared<GivenMatrix<double>>(given);
    std::vector<double> weights(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      weights[static_cast<std::size_t>(i)] = std::pow(10.0, i * 5 % 11) * 1e-200;
    Runtime runtime(config_of({}));
    const auto a = runtime.tiled<double>("A", n, n, tile);
    Flow flow(runtime);
    fill<double>(flow, source, a, Tiles::all);
    lu(flow, kernels(), a);
    wait_for_results(flow);
    const AppliedInverse<double> applied{
        [&](Flow& to, const auto& b) { solve_lu_factored(to, kernels(), a, b); },
        [&](Flow& to, const auto& b) { solve_lu_transposed(to, kernels(), a, b); },
        [](std::int64_t) { return std::uint64_t{1}; }};
    InverseNorm<double> inverse(runtime, n, tile, applied, weights);
    while (!inverse.done()) {
      inverse.submit(flow);
      wait_for_results(flow);
    }
    // The inverse itself, from the solution for the identity.
    Dense<double> whole{n, n, std::vector<double>(static_cast<std::size_t>(n * n))};
    for (std::int64_t i = 0; i < n; ++i) whole(i, i) = 1;
    {
      const auto tiles = runtime.tiled_in_place<double>("B", whole.elements.data(), n, n, n, tile);
      solve_lu_factored(flow, kernels(), a, tiles);
      wait_for_results(flow);
    }
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += std::abs(whole(i, j)) * weights[static_cast<std::size_t>(j)];
      largest = std::max(largest, sum);
    }
    EXPECT_LE(inverse.weighted_value(), largest * (1 + 1e-6)) << n;
    EXPECT_GE(inverse.weighted_value(), largest / (n <= 16 ? 1 + 1e-6 : 3)) << n;

    std::vector<std::int64_t> rows;
    for (const RowOfInverse& row : inverse.rows()) {
      rows.push_back(row.row);
      EXPECT_NEAR(row.diagonal, std::abs(whole(row.row, row.row)), 1e-9 * std::abs(whole(row.row, row.row)));
    }
    const std::vector<double> elements = inverse.elements(), shares(static_cast<std::size_t>(n), 1);
    InverseResidual<double> right(kernels(), source, elements, rows, shares);
    right.submit(flow, 0, 1);
    std::vector<double> halved = elements;
    for (double& element : halved) element /= 2;
    InverseResidual<double> wrong(kernels(), source, halved, rows, shares);
    wrong.submit(flow, 0, 1);
    wait_for_results(flow);
    right.combine_ranks(runtime);
    wrong.combine_ranks(runtime);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      EXPECT_LT(right.residuals()[k], 1e-6);
      EXPECT_NEAR(right.products()[k], 1, 1e-6);
      EXPECT_NEAR(wrong.residuals()[k], 0.5, 1e-6);
      EXPECT_NEAR(wrong.products()[k], 0.5, 1e-6);
    }
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing
