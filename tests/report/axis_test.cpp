// Axes end at round numbers, and labels of ticks are short. tests/repository/test_page_files.py checks that the
// script of pages has the same steps.
#include "report/html/charts/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::report::html {
namespace {

using testing::ElementsAre;

TEST(Axis, StepsAreOneTwoOrFiveTimesAPowerOfTen) {
  struct Case {
    double range, wanted, step;
  };
  constexpr Case cases[] = {
      {1, 6, 0.2},       {2.9, 6, 0.5},    {6, 6, 1},         {7, 6, 2},         {12, 6, 2},
      {13, 6, 5},        {31, 6, 10},      {100, 10, 10},     {101, 10, 20},     {1000, 1, 1000},
      {1001, 1, 2000},   {5000, 1, 5000},  {5001, 1, 10000},  {0.0003, 3, 1e-4}, {0.00031, 3, 2e-4},
      {2900000, 8, 5e5}, {1e12, 12, 1e11}, {3.6e-7, 2, 2e-7}, {99999, 2, 5e4},   {59, 59, 1},
  };
  for (const auto& [range, wanted, step] : cases)
    EXPECT_DOUBLE_EQ(round_step(range, wanted), step) << range << " in " << wanted;
}

TEST(Axis, TicksAreMultiplesOfTheStepBothEndsIncluded) {
  EXPECT_THAT(ticks_between(3, 10, 2), ElementsAre(4, 6, 8, 10));
  EXPECT_THAT(ticks_between(4, 9, 2), ElementsAre(4, 6, 8));
  EXPECT_EQ(ticks_between(0, 0.7, 0.1).size(), 8u);  // 7 * 0.1 is more than 0.7
  EXPECT_LE(ticks_between(1e17, 1e17 + 64, 1).size(),
            100u);  // floating-point numbers are further apart than the step
}

TEST(Axis, FromZeroEndsAtTheFirstTickThatIsNotBelowTheMost) {
  EXPECT_DOUBLE_EQ(AxisFromZero(3).end(), 3);
  EXPECT_DOUBLE_EQ(AxisFromZero(3.1).end(), 4);
  EXPECT_THAT(AxisFromZero(3.1).ticks(), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Axis, NumbersAreShort) {
  EXPECT_EQ(tick_text(2'900'000), "2,900,000");
  EXPECT_EQ(tick_text(ticks_between(0, 1, 1).front()), "0");  // not "-0"
  EXPECT_EQ(tick_text(120), "120");
  EXPECT_EQ(tick_text(0.3000000004), "0.3");
  EXPECT_EQ(column_text(3.14159, 99), "3.1");
  EXPECT_EQ(column_text(3.14159, 9), "3.14");
  EXPECT_EQ(column_text(3.14159, 5000), "3.14");
}

}  // namespace
}  // namespace fairlead::report::html
