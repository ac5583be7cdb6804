// The memory needed for a datum that is sent and another that is received at the same time.
#include "front/ranks/bidirectional_footprint.hpp"

#include <gtest/gtest.h>

namespace fairlead::front {
namespace {

TEST(BidirectionalFootprint, IsTheLargestSumOfTwoDifferentData) {
  BidirectionalFootprint both;
  both.add(DatumId{1}, 100, true);
  EXPECT_EQ(both.bytes(), 0u);  // nothing comes
  both.add(DatumId{1}, 100, false);
  EXPECT_EQ(both.bytes(), 0u);  // it comes into the place that it went from
  both.add(DatumId{2}, 30, true);
  both.add(DatumId{3}, 20, true);
  both.add(DatumId{2}, 30, true);
  EXPECT_EQ(both.bytes(), 130u);
  both.add(DatumId{4}, 50, false);
  EXPECT_EQ(both.bytes(), 150u);
}

}  // namespace
}  // namespace fairlead::front
