// In which order what is left over is taken, by several threads.
#include <gtest/gtest.h>

#include "front/ptg/deferred_work.hpp"

namespace fairlead::ptg {
namespace {

// Else the one who gave it on would be counted off before he is counted.
TEST(DeferredWork, AValueIsNotGivenOnBeforeThatItHasComeIsTold) {
  DeferredWork left;
  left.keep(ArrivedOutput{.number = 7, .forwarded = true});
  left.keep_delivered(7);
  std::uint32_t given = 0;
  EXPECT_FALSE(left.take_delivered(given));
  ArrivedOutput came;
  ASSERT_TRUE(left.take(came));
  EXPECT_FALSE(left.take_delivered(given)) << "who has taken what came may not have told of it";
  left.arrival_processed(came);
  ASSERT_TRUE(left.take_delivered(given));
  EXPECT_EQ(given, 7u);
  EXPECT_FALSE(left.none());
  left.done();
  EXPECT_TRUE(left.none());
}

}  // namespace
}  // namespace fairlead::ptg
