// Cyclic maps, compared cell by cell with tables derived from PaRSEC 2025 (placement), section 4.
#include <gtest/gtest.h>
#include <fairlead/cyclic_map.hpp>

#include <array>
#include <map>
#include <set>
#include <utility>

namespace fairlead {
namespace {

constexpr int size = 6;
template <class T>
using Table = std::array<std::array<T, size>, size>;

/// Rank and device of each tile, of the lower triangle or of all.
std::map<std::pair<int, int>, int> counts(const CyclicMap& map, bool lower) {
  std::map<std::pair<int, int>, int> found;
  for (int m = 0; m < size; ++m)
    for (int n = 0; n < (lower ? m + 1 : size); ++n) ++found[{map.rank(m, n), map.device(m, n)}];
  return found;
}

constexpr CyclicMap one_rank{.device_rows = 2, .device_columns = 2};
constexpr CyclicMap four_ranks{.rank_rows = 2, .rank_columns = 2, .device_rows = 2, .device_columns = 1};

}  // namespace

TEST(CyclicMap, OneRankOfFourDevices) {
  constexpr Table<int> devices{{{0, 1, 0, 1, 0, 1},
                                {2, 3, 2, 3, 2, 3},
                                {0, 1, 0, 1, 0, 1},
                                {2, 3, 2, 3, 2, 3},
                                {0, 1, 0, 1, 0, 1},
                                {2, 3, 2, 3, 2, 3}}};
  for (int m = 0; m < size; ++m)
    for (int n = 0; n < size; ++n) {
      EXPECT_EQ(one_rank.rank(m, n), 0);
      EXPECT_EQ(one_rank(m, n), devices[m][n]) << m << ", " << n;
    }
}

// Each place is 10 * rank + device.
TEST(CyclicMap, FourRanksOfTwoDevices) {
  constexpr Table<int> places{{{0, 10, 0, 10, 0, 10},
                               {20, 30, 20, 30, 20, 30},
                               {1, 11, 1, 11, 1, 11},
                               {21, 31, 21, 31, 21, 31},
                               {0, 10, 0, 10, 0, 10},
                               {20, 30, 20, 30, 20, 30}}};
  for (int m = 0; m < size; ++m)
    for (int n = 0; n < size; ++n)
      EXPECT_EQ(10 * four_ranks.rank(m, n) + four_ranks.device(m, n), places[m][n]) << m << ", " << n;
}

TEST(CyclicMap, TilesPerPlace) {
  using Counts = std::map<std::pair<int, int>, int>;
  EXPECT_EQ(counts(one_rank, false), (Counts{{{0, 0}, 9}, {{0, 1}, 9}, {{0, 2}, 9}, {{0, 3}, 9}}));
  EXPECT_EQ(counts(one_rank, true), (Counts{{{0, 0}, 6}, {{0, 1}, 3}, {{0, 2}, 6}, {{0, 3}, 6}}));
  EXPECT_EQ(counts(four_ranks, false), (Counts{{{0, 0}, 6},
                                               {{0, 1}, 3},
                                               {{1, 0}, 6},
                                               {{1, 1}, 3},
                                               {{2, 0}, 6},
                                               {{2, 1}, 3},
                                               {{3, 0}, 6},
                                               {{3, 1}, 3}}));
  EXPECT_EQ(counts(four_ranks, true), (Counts{{{0, 0}, 4},
                                              {{0, 1}, 2},
                                              {{1, 0}, 2},
                                              {{1, 1}, 1},
                                              {{2, 0}, 4},
                                              {{2, 1}, 2},
                                              {{3, 0}, 4},
                                              {{3, 1}, 2}}));
}

static_assert(four_ranks.rank(3, 2) == 2 && four_ranks(2, 5) == 1);  // usable where constants are wanted

// Summit has six devices. The devices that each row of ranks uses, by the text of the paper and by its
// printed formula.
TEST(RowCyclicMap, DistributesTheRowsOfARankRoundRobinOverItsDevices) {
  const auto used = [](int rank_rows, RowCyclicMap::Rows rows) {
    const RowCyclicMap map{.rank_rows = rank_rows, .devices = 6, .rows = rows};
    std::set<int> devices;
    for (int m = 0; m < 96; m += rank_rows) devices.insert(map(m, 0));  // those of the first row of ranks
    return devices;
  };
  using enum RowCyclicMap::Rows;
  const std::set<int> all{0, 1, 2, 3, 4, 5};
  for (const int rank_rows : {1, 2, 3, 4, 8, 16}) EXPECT_EQ(used(rank_rows, of_rank), all) << rank_rows;
  EXPECT_EQ(used(1, of_matrix), all);
  for (const int rank_rows : {2, 4, 8, 16})
    EXPECT_EQ(used(rank_rows, of_matrix), (std::set{0, 2, 4})) << rank_rows;
  EXPECT_EQ(used(3, of_matrix), (std::set{0, 3}));
}

TEST(RowCyclicMap, BothFormulasAgreeWithOneRowOfRanks) {
  const RowCyclicMap text{.rank_columns = 3, .devices = 4};
  RowCyclicMap printed = text;
  printed.rows = RowCyclicMap::Rows::of_matrix;
  for (int m = 0; m < 12; ++m)
    for (int n = 0; n < 12; ++n) {
      EXPECT_EQ(text(m, n), m % 4);
      EXPECT_EQ(printed(m, n), text(m, n));
      EXPECT_EQ(text.rank(m, n), n % 3);
    }
}

}  // namespace fairlead
