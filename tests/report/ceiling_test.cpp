// The ceiling against known rates, and against a traversal of all tasks.
#include "report/ceiling.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace fairlead::report {

namespace {

/// Work and longest chain by traversing all tasks in the order of an algorithm.
struct Walk {
  Walk(std::uint64_t n_, std::uint64_t tile_, unsigned cores_)
      : n(n_), tile(tile_), tiles((n + tile - 1) / tile), cores(cores_) {}
  using Place = std::tuple<std::uint64_t, std::uint64_t>;

  double side(std::uint64_t i) const { return static_cast<double>(std::min(tile, n - i * tile)); }
  void task(double flops, double rate, const std::vector<Place>& inputs, Place output) {
    double begin = written[output];
    for (const auto& input : inputs) begin = std::max(begin, written[input]);
    const double seconds = flops / (rate * 1e9);
    written[output] = begin + seconds;
    sum.compute_seconds += seconds / cores;
    sum.critical_path_seconds = std::max(sum.critical_path_seconds, begin + seconds);
  }
  std::uint64_t n, tile, tiles;
  unsigned cores;
  std::map<Place, double> written;  // when a tile's newest version is complete
  Ceiling sum;
};

Ceiling walked(std::uint64_t n, std::uint64_t tile, const TileRates& rates, unsigned cores) {
  Walk walk(n, tile, cores);
  const auto side = [&](std::uint64_t i) { return walk.side(i); };
  for (std::uint64_t k = 0; k < walk.tiles; ++k) {
    walk.task(cholesky_flops(side(k)), rates.potrf, {}, {k, k});
    for (std::uint64_t m = k + 1; m < walk.tiles; ++m)
      walk.task(side(m) * side(k) * side(k), rates.trsm, {{k, k}}, {m, k});
    for (std::uint64_t j = k + 1; j < walk.tiles; ++j) {
      walk.task(side(j) * (side(j) + 1) * side(k), rates.syrk, {{j, k}}, {j, j});
      for (std::uint64_t m = j + 1; m < walk.tiles; ++m)
        walk.task(2 * side(m) * side(j) * side(k), rates.gemm, {{m, k}, {j, k}}, {m, j});
    }
  }
  return walk.sum;
}

Ceiling walked_lu(std::uint64_t n, std::uint64_t tile, const TileRates& rates, unsigned cores) {
  Walk walk(n, tile, cores);
  const auto side = [&](std::uint64_t i) { return walk.side(i); };
  for (std::uint64_t k = 0; k < walk.tiles; ++k) {
    walk.task(lu_flops(side(k)), rates.getrf, {}, {k, k});
    for (std::uint64_t i = k + 1; i < walk.tiles; ++i) {
      walk.task(side(i) * side(k) * side(k), rates.trsm, {{k, k}}, {i, k});
      walk.task(side(i) * side(k) * side(k), rates.trsm, {{k, k}}, {k, i});
    }
    for (std::uint64_t j = k + 1; j < walk.tiles; ++j)
      for (std::uint64_t m = k + 1; m < walk.tiles; ++m)
        walk.task(2 * side(m) * side(j) * side(k), rates.gemm, {{m, k}, {k, j}}, {m, j});
  }
  return walk.sum;
}

}  // namespace

// Rates of one core, and the known ceiling of two.
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

TEST(Ceiling, AgreesWithATraversalOfAllTasks) {
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

TEST(Ceiling, IsUnknownIfARateIsUnknown) {
  EXPECT_FALSE(cholesky_ceiling(2000, 512, {.gemm = 0, .syrk = 71, .trsm = 61, .potrf = 55}, 2));
  EXPECT_FALSE(cholesky_ceiling_gflops(2000, 512, {}, 2));
  EXPECT_FALSE(cholesky_ceiling(0, 512, {90, 71, 61, 55}, 2));
}

TEST(Ceiling, OfLuIsTheWorkAndTheLongestChainOfItsTasks) {
  const TileRates rates{.gemm = 90, .trsm = 61, .getrf = 40};
  for (const std::uint64_t n : {1u, 99u, 100u, 101u, 200u, 250u, 300u, 731u, 1000u})
    for (const unsigned cores : {1u, 2u, 64u}) {
      const auto ceiling = lu_ceiling(n, 100, rates, cores);
      const Ceiling expected = walked_lu(n, 100, rates, cores);
      ASSERT_TRUE(ceiling) << n;
      EXPECT_NEAR(ceiling->compute_seconds, expected.compute_seconds, 1e-12 * expected.compute_seconds) << n;
      EXPECT_NEAR(ceiling->critical_path_seconds, expected.critical_path_seconds,
                  1e-12 * expected.critical_path_seconds)
          << n;
    }
  EXPECT_FALSE(lu_ceiling(200, 100, {.gemm = 90, .trsm = 61}, 2));
  EXPECT_TRUE(lu_ceiling(100, 100, {.getrf = 40}, 2));
}

// 2 x 1000^3 operations; the ten updates of one tile of 100 x 100 take a hundredth of that on one core.
TEST(Ceiling, OfAProductIsThatOfItsMultiplications) {
  const auto ceiling = product_ceiling(1000, 100, {.gemm = 50}, 4);
  ASSERT_TRUE(ceiling);
  EXPECT_DOUBLE_EQ(ceiling->compute_seconds, 0.01);
  EXPECT_DOUBLE_EQ(ceiling->critical_path_seconds, 0.0004);
  EXPECT_FALSE(product_ceiling(1000, 100, {}, 4));
}

}  // namespace fairlead::report
