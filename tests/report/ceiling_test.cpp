// The ceiling against known rates, and against a walk through every task.
#include "report/ceiling.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace fairlead::report {

namespace {

// Work and longest chain found by walking through every task in the order of the algorithm.
Ceiling walked(std::uint64_t n, std::uint64_t tile, const TileRates& rates, unsigned cores) {
  const std::uint64_t tiles = (n + tile - 1) / tile;
  const auto side = [&](std::uint64_t i) { return static_cast<double>(std::min(tile, n - i * tile)); };
  std::map<std::tuple<std::uint64_t, std::uint64_t>, double>
      written;  // when a tile's newest version is there
  Ceiling sum;
  const auto task = [&](double flops, double rate, auto inputs,
                        std::tuple<std::uint64_t, std::uint64_t> output) {
    double begin = written[output];
    for (const auto& input : inputs) begin = std::max(begin, written[input]);
    const double seconds = flops / (rate * 1e9);
    written[output] = begin + seconds;
    sum.compute_seconds += seconds / cores;
    sum.critical_path_seconds = std::max(sum.critical_path_seconds, begin + seconds);
  };
  using Inputs = std::vector<std::tuple<std::uint64_t, std::uint64_t>>;
  for (std::uint64_t k = 0; k < tiles; ++k) {
    task(cholesky_flops(side(k)), rates.potrf, Inputs{}, {k, k});
    for (std::uint64_t m = k + 1; m < tiles; ++m)
      task(side(m) * side(k) * side(k), rates.trsm, Inputs{{k, k}}, {m, k});
    for (std::uint64_t j = k + 1; j < tiles; ++j) {
      task(side(j) * (side(j) + 1) * side(k), rates.syrk, Inputs{{j, k}}, {j, j});
      for (std::uint64_t m = j + 1; m < tiles; ++m)
        task(2 * side(m) * side(j) * side(k), rates.gemm, Inputs{{m, k}, {j, k}}, {m, j});
    }
  }
  return sum;
}

}  // namespace

// Rates of one core, and what they were found to allow on two.
TEST(Ceiling, OfAMatrixOf16384OnTwoCores) {
  const struct {
    std::uint64_t tile;
    TileRates rates;
    double gflops;
  } known[] = {{256, {77, 52, 46, 46}, 150},
               {320, {84, 78, 48, 51}, 163},
               {512, {90, 71, 61, 55}, 174},
               {768, {97, 87, 67, 67}, 186},
               {1024, {100, 94, 72, 63}, 192}};
  for (const auto& [tile, rates, gflops] : known)
    EXPECT_NEAR(cholesky_ceiling_gflops(16384, tile, rates, 2).value(), gflops, 0.01 * gflops) << tile;
}

TEST(Ceiling, AgreesWithAWalkThroughAllTasks) {
  const TileRates fast_gemm{100, 94, 72, 63}, slow_gemm{10, 94, 72, 63}, slow_diagonal{100, 94, 72, 5};
  for (const TileRates& rates : {fast_gemm, slow_gemm, slow_diagonal})
    for (const std::uint64_t n : {1, 63, 64, 65, 128, 129, 192, 200, 256, 320, 383, 640, 700}) {
      const Ceiling expected = walked(n, 64, rates, 3);
      const Ceiling found = cholesky_ceiling(n, 64, rates, 3).value();
      EXPECT_NEAR(found.compute_seconds / expected.compute_seconds, 1, 1e-9) << n;
      EXPECT_NEAR(found.critical_path_seconds / expected.critical_path_seconds, 1, 1e-9) << n;
    }
}

TEST(Ceiling, ManyCoresAreBoundByTheCriticalPath) {
  const Ceiling ceiling = cholesky_ceiling(4096, 512, {90, 71, 61, 55}, 10000).value();
  EXPECT_EQ(ceiling.seconds(), ceiling.critical_path_seconds);
}

TEST(Ceiling, OneTileNeedsNoRateButPotrf) {
  EXPECT_TRUE(cholesky_ceiling(100, 512, {.potrf = 50}, 2));
  EXPECT_NEAR(cholesky_ceiling_gflops(100, 512, {.potrf = 50}, 1).value(), 50, 1e-9);
}

TEST(Ceiling, IsNotGuessedWhenARateIsUnknown) {
  EXPECT_FALSE(cholesky_ceiling(2000, 512, {.gemm = 0, .syrk = 71, .trsm = 61, .potrf = 55}, 2));
  EXPECT_FALSE(cholesky_ceiling_gflops(2000, 512, {}, 2));
  EXPECT_FALSE(cholesky_ceiling(0, 512, {90, 71, 61, 55}, 2));
}

}  // namespace fairlead::report
