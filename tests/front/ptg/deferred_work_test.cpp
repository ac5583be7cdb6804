// The order in which several threads take deferred work.
#include <gtest/gtest.h>

#include "front/ptg/deferred_work.hpp"

namespace fairlead::ptg {
namespace {

// Otherwise the value would be released before its arrival is counted.
TEST(DeferredWork, AValueIsForwardedOnlyAfterItsArrivalIsProcessed) {
  DeferredWork left;
  left.keep(ArrivedOutput{.number = 7, .forwarded = true});
  left.keep_delivered(7);
  std::uint32_t given = 0;
  EXPECT_FALSE(left.take_delivered(given));
  ArrivedOutput came;
  ASSERT_TRUE(left.take(came));
  EXPECT_FALSE(left.take_delivered(given)) << "the arrival is not processed yet";
  left.arrival_processed(came);
  ASSERT_TRUE(left.take_delivered(given));
  EXPECT_EQ(given, 7u);
  EXPECT_FALSE(left.none());
  left.done();
  EXPECT_TRUE(left.none());
}

}  // namespace
}  // namespace fairlead::ptg
