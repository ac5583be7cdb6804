// Solutions of smallest norm and projections, for matrices of rank one and diagonal ones, whose exact results are known.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "algorithms/linalg/truncated_triangle.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

class Memory {
 public:
  explicit Memory(std::int64_t n)
      : n_(n), all_(static_cast<std::size_t>(n * TruncatedTriangle<double>::columns_needed(n))) {}
  double* data() noexcept { return all_.data(); }
  double& operator()(std::int64_t i, std::int64_t j) { return all_[static_cast<std::size_t>(i + j * n_)]; }

 private:
  std::int64_t n_;
  std::vector<double> all_;
};

double value_of(std::int64_t i) { return 1 + std::sin(static_cast<double>(i)) / 2; }

// With and without divide and conquer, whose leaves have 25 rows.
constexpr std::int64_t sizes[] = {1, 2, 3, 25, 26, 60, 130};

TEST(TruncatedTriangle, OfRankOneHasMultiplesOfItsRowAsSolutions) {
  for (const std::int64_t n : sizes) {
    Memory memory(n);
    double squares = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      memory(0, j) = value_of(j);
      squares += value_of(j) * value_of(j);
    }
    const TruncatedTriangle<double> triangle(kernels(), n, 1e-13);
    const Spectrum found = triangle.reduce(memory.data());
    EXPECT_EQ(found.rank, 1) << n;
    EXPECT_NEAR(found.largest, std::sqrt(squares), 1e-12 * std::sqrt(squares));
    EXPECT_EQ(found.smallest_kept, found.largest);
    EXPECT_LE(found.largest_dropped, 1e-13 * found.largest);
    double* const sides = triangle.sides(memory.data());
    const auto fill = [&] {
      for (std::int64_t c = 0; c < 2; ++c)
        for (std::int64_t i = 0; i < n; ++i) sides[i + c * n] = static_cast<double>((c + 2) * (i + 1));
    };
    fill();
    triangle.solve(memory.data(), 2);
    for (std::int64_t c = 0; c < 2; ++c)
      for (std::int64_t i = 0; i < n; ++i)
        EXPECT_NEAR(sides[i + c * n], static_cast<double>(c + 2) * value_of(i) / squares, 1e-12)
            << n << " " << i;
    double norms[2];
    fill();
    triangle.project(memory.data(), norms, TruncatedTriangle<double>::Space::columns);
    EXPECT_NEAR(norms[0], 2, 1e-11) << n;
    EXPECT_NEAR(norms[1], 3, 1e-11) << n;
    double product = 0;
    for (std::int64_t i = 0; i < n; ++i) product += static_cast<double>(i + 1) * value_of(i);
    fill();
    triangle.project(memory.data(), norms, TruncatedTriangle<double>::Space::rows);
    EXPECT_NEAR(norms[0], 2 * product / std::sqrt(squares), 1e-12 * product) << n;
    EXPECT_NEAR(norms[1], 3 * product / std::sqrt(squares), 1e-12 * product) << n;
  }
}

TEST(TruncatedTriangle, TruncatesADiagonalAtTheTolerance) {
  for (const std::int64_t n : sizes) {
    // 1, 1/2, 1/4, ... of which those above 0.3 count: two.
    Memory memory(n);
    for (std::int64_t j = 0; j < n; ++j) memory(j, j) = std::ldexp(1, -static_cast<int>(j));
    const TruncatedTriangle<double> triangle(kernels(), n, 0.3);
    const Spectrum found = triangle.reduce(memory.data());
    EXPECT_EQ(found.rank, std::min<std::int64_t>(n, 2));
    EXPECT_EQ(found.largest, 1);
    EXPECT_EQ(found.smallest_kept, n > 1 ? 0.5 : 1);
    EXPECT_NEAR(found.largest_dropped, n > 2 ? 0.25 : 0, 1e-15);
    double* const sides = triangle.sides(memory.data());
    std::fill_n(sides, n, 1.0);
    triangle.solve(memory.data(), 1);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_NEAR(sides[i], i == 0 ? 1 : i == 1 ? 2 : 0, 1e-14) << n;
  }
}

TEST(TruncatedTriangle, OfZerosHasRankZeroAndTheSolutionZero) {
  for (const std::int64_t n : sizes) {
    Memory memory(n);
    const TruncatedTriangle<double> triangle(kernels(), n, 1e-15);
    const Spectrum found = triangle.reduce(memory.data());
    EXPECT_EQ(found.rank, 0);
    EXPECT_EQ(found.largest, 0);
    EXPECT_EQ(found.smallest_kept, 0);
    double* const sides = triangle.sides(memory.data());
    std::fill_n(sides, n, 1.0);
    triangle.solve(memory.data(), 1);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(sides[i], 0);
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing
