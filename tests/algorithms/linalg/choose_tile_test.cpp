// The default tile size: as large as memory and workers allow.
#include <gtest/gtest.h>

#include "algorithms/linalg/choose_tile.hpp"

namespace fairlead::linalg {
namespace {

constexpr Bytes gibibyte = Bytes{1} << 30;

TEST(ChosenTile, GivesEnoughTilesToEveryWorker) {
  for (const std::size_t workers : {1, 2, 4, 8, 64})
    for (const std::int64_t n : {3000, 4096, 10'000, 50'000})
      for (const TileRequirements& needs :
           {tile_needs(workers, false), tile_needs(workers, true), tile_needs_of_pairs(workers)}) {
        const std::int32_t side = choose_tile(n, 8, 64 * gibibyte, workers, needs);
        EXPECT_TRUE(side <= 128 || (n + side - 1) / side >= needs.tiles_per_side) << n << ", " << workers;
        EXPECT_LE(side, needs.max_side);
      }
}

TEST(ChosenTile, KeepsTwelveTilesInMemoryAndTwelveMorePerWorker) {
  for (const std::size_t workers : {1, 2, 8})
    for (const Bytes memory : {gibibyte / 256, gibibyte / 32, gibibyte}) {
      const auto side = static_cast<Bytes>(choose_tile(20'000, 8, memory, workers, tile_needs(workers)));
      EXPECT_GE(memory / (side * side * 8), 12 + 12 * workers) << memory << ", " << workers;
    }
}

// 448 makes kernels of QR a fifth faster than 192, and ten of them a side leave 1 % of two workers' time idle.
TEST(ChosenTile, IsLargerForTasksOnPairsOfTiles) {
  EXPECT_EQ(choose_tile(4096, 8, gibibyte, 2, tile_needs(2)), 192);
  EXPECT_EQ(choose_tile(4096, 8, gibibyte, 2, tile_needs_of_pairs(2)), 448);
  EXPECT_EQ(choose_tile(50'000, 8, 64 * gibibyte, 2, tile_needs(2)), 1024);
  EXPECT_EQ(choose_tile(50'000, 8, 64 * gibibyte, 2, tile_needs(2, true)), 768);
  EXPECT_EQ(choose_tile(50'000, 8, 64 * gibibyte, 2, tile_needs_of_pairs(2)), 640);
  for (const std::size_t workers : {1, 2, 3, 4, 16, 128})
    EXPECT_LT(tile_needs_of_pairs(workers).tiles_per_side, tile_needs(workers).tiles_per_side) << workers;
}

TEST(ChosenTile, LeavesMemoryForColumnsOfTilesIfPanelsNeedThem) {
  for (const std::int64_t n : {5000, 20'000, 100'000})
    for (const Bytes memory : {gibibyte / 2, 4 * gibibyte, 64 * gibibyte}) {
      const std::int64_t side = choose_tile(n, 8, memory, 2, tile_needs_of_panels(2));
      const auto tiles = static_cast<std::int64_t>(memory) / (side * side * 8);
      EXPECT_GE(tiles, (n * n * 8 > static_cast<std::int64_t>(memory) ? 3 : 5) * ((n + side - 1) / side))
          << n << ", " << memory;
    }
}

TEST(ChosenTile, IsTheLargestThatLeavesSomeColumnsIfEachColumnCostsAPass) {
  constexpr std::int64_t n = 12'288;
  constexpr Bytes triangle = n * n / 2 * 8;
  const TileRequirements needs = tile_needs_of_symmetric_panels(2);
  EXPECT_EQ(choose_tile(n, 8, 2 * triangle, 2, needs), 448);
  EXPECT_EQ(choose_tile(n, 8, triangle / 4, 2, needs), 640);
  EXPECT_EQ(choose_tile(n, 8, triangle / 16, 2, needs), 160);
  EXPECT_EQ(choose_tile(n, 8, triangle / 2, 2, needs), 1024);
  EXPECT_EQ(choose_tile(4 * n, 8, 4 * triangle, 2, needs), 1024);
  EXPECT_EQ(choose_tile(n, 8, 3 * triangle, 2, tile_needs_of_panels(2)), 640);
  EXPECT_EQ(choose_tile(n, 8, triangle / 2, 2, tile_needs_of_panels(2)), 576);
  EXPECT_EQ(choose_tile(n, 8, triangle / 8, 2, tile_needs_of_panels(2)), 192);
}

// If memory is too small for that many tiles, smaller tiles do not help.
TEST(ChosenTile, IsNotBelowTheMinimumOfAPage) {
  for (const Bytes memory : {Bytes{4096}, Bytes{65'536}, gibibyte / 4096}) {
    EXPECT_EQ(choose_tile(1000, 8, memory, 8, tile_needs(8)), 16);
    EXPECT_EQ(choose_tile(1000, 4, memory, 8, tile_needs(8)), 16);
  }
}

TEST(ChosenTile, IsAtMostTheMatrixAndAtLeastOne) {
  for (const std::int64_t n : {1, 2, 3, 5}) EXPECT_LE(choose_tile(n, 8, gibibyte, 2, tile_needs(2)), n);
  EXPECT_EQ(choose_tile(5, 8, 4096, 2, tile_needs(2)), 5);
}

}  // namespace
}  // namespace fairlead::linalg
