// The best node of a task: Table 1 of Bramas 2019, cell by cell, and cases that it leaves open.
#include "schedule/heteroprio/affinity.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedule/heteroprio/uses.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

struct Row {
  Situation situation;
  Columns sdh, sdh2, sdhb, smwb;
};

constexpr Columns all = 0b111, mn0 = 0b001, mn1 = 0b010, mn2 = 0b100;

// The paper prints {2} for LS_SDH in the fifth row, against its Eq. 6: A + C on MN1 are 4, and so are C + D
// on MN2.
const std::vector<Row> table_1{
    {{{{"A", 1, false}, {"B", 1, true}}, {"A", "A", "B"}}, all, all, mn2, mn2},
    {{{{"A", 1, false}, {"B", 1, true}}, {"A", "AB", "B"}}, mn1, mn1, mn1, mn1},
    {{{{"A", 1, true}, {"B", 1, true}, {"C", 2, true}}, {"AB", "C", "AC"}}, mn2, mn2, mn2, mn2},
    {{{{"A", 1, true}, {"B", 1, true}, {"C", 1, true}}, {"AB", "AB", "AC"}}, all, all, all, all},
    {{{{"A", 2, false}, {"B", 1, false}, {"C", 2, true}, {"D", 2, true}}, {"AB", "AC", "CD"}},
     mn1 | mn2,
     mn2,
     mn2,
     mn2},
    {{{{"A", 10, true}, {"B", 11, true}, {"C", 18, true}, {"D", 11, true}}, {"AD", "C", "BD"}},
     mn2,
     mn1,
     mn2,
     mn2},
    {{{{"A", 10, true}, {"B", 11, true}, {"C", 22, true}, {"D", 11, true}}, {"AD", "C", "BD"}},
     mn1 | mn2,
     mn1,
     mn2,
     mn1 | mn2},
};

TEST(Affinity, IsThatOfTable1) {
  for (std::size_t row = 0; row < table_1.size(); ++row) {
    SCOPED_TRACE("row " + std::to_string(row + 1));
    const auto& [situation, by_sdh, by_sdh2, by_sdhb, by_smwb] = table_1[row];
    const auto uses = uses_of(situation);
    EXPECT_EQ(sdh(uses, 3), by_sdh);
    EXPECT_EQ(sdh2(uses, 3), by_sdh2);
    EXPECT_EQ(sdhb(uses, 3), by_sdhb);
    EXPECT_EQ(smwb(uses, 3), by_smwb);
  }
}

// With A of 1 byte instead of 2 all four cells of the fifth row are as printed.
TEST(Affinity, RowFiveIsAsPrintedIfAIsSmaller) {
  const auto uses =
      uses_of({{{"A", 1, false}, {"B", 1, false}, {"C", 2, true}, {"D", 2, true}}, {"AB", "AC", "CD"}});
  EXPECT_EQ(sdh(uses, 3), mn2);
  EXPECT_EQ(sdh2(uses, 3), mn2);
  EXPECT_EQ(sdhb(uses, 3), mn2);
  EXPECT_EQ(smwb(uses, 3), mn2);
}

// X is on both nodes: 400,000 against 420,000. Without it: 100,000 against 80,000, the other way round.
TEST(Affinity, CountsDataThatAreOnAllNodes) {
  const auto uses =
      uses_of({{{"X", 100, true}, {"A", 100, true}, {"B", 20, true}, {"C", 20, true}}, {"XA", "XBC"}});
  EXPECT_EQ(sdhb(uses, 2), mn1);
  EXPECT_EQ(sdhb(std::span(uses).subspan(1), 2), mn0);
}

TEST(Affinity, ThetaWeighsWrittenData) {
  const auto uses = uses_of({{{"R", 100, false}, {"W", 10, true}}, {"R", "W"}});
  EXPECT_EQ(sdhb(uses, 2), mn1);
  EXPECT_EQ(sdhb(uses, 2, 10), mn0 | mn1);
  EXPECT_EQ(sdhb(uses, 2, 9), mn0);
}

TEST(Affinity, LaRuIsTheNodeOfThePusher) {
  EXPECT_EQ(laru(2, 3), mn2);
  EXPECT_EQ(laru(std::nullopt, 3), all);
}

TEST(Affinity, McIsTheNodeWithTheShortestTransfers) {
  const std::vector<Duration> times{Duration{5}, Duration{3}, Duration{3}};
  EXPECT_EQ(mc(times), mn1 | mn2);
}

TEST(Affinity, WithoutDataAllNodesAreAlike) {
  EXPECT_EQ(sdh({}, 3), all);
  EXPECT_EQ(sdh2({}, 3), all);
  EXPECT_EQ(sdhb({}, 3), all);
  EXPECT_EQ(smwb({}, 3), all);
}

TEST(Affinity, TiesGoToThePusherThenToTheLowest) {
  EXPECT_EQ(select_node(mn1 | mn2, 2), 2u);
  EXPECT_EQ(select_node(mn1 | mn2, 0), 1u);
  EXPECT_EQ(select_node(mn1 | mn2, std::nullopt), 1u);
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
