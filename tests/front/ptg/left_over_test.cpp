// In which order what is left over is taken, by several threads.
#include <gtest/gtest.h>

#include "front/ptg/left_over.hpp"

namespace fairlead::ptg {
namespace {

// Else the one who gave it on would be counted off before he is counted.
TEST(LeftOver, AValueIsNotGivenOnBeforeThatItHasComeIsTold) {
  LeftOver left;
  left.keep(Came{.number = 7, .passed_on = true});
  left.keep_given(7);
  std::uint32_t given = 0;
  EXPECT_FALSE(left.take_given(given));
  Came came;
  ASSERT_TRUE(left.take(came));
  EXPECT_FALSE(left.take_given(given)) << "who has taken what came may not have told of it";
  left.told_of(came);
  ASSERT_TRUE(left.take_given(given));
  EXPECT_EQ(given, 7u);
  EXPECT_FALSE(left.none());
  left.done();
  EXPECT_TRUE(left.none());
}

}  // namespace
}  // namespace fairlead::ptg
