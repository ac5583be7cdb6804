// The random number generator of seeded runs.
#include "base/random.hpp"

#include <gtest/gtest.h>

namespace fairlead {

// A seed determines a run: the sequence must never change, on any machine.
TEST(Random, ASeedHasAFixedSequence) {
  Random random(42);
  EXPECT_EQ(random.next(), 13679457532755275413u);
  EXPECT_EQ(random.next(), 2949826092126892291u);
}

TEST(Random, BetweenIncludesBothBoundsAndStaysWithinThem) {
  Random random(1);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const auto value = random.between(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    low |= value == -2;
    high |= value == 2;
  }
  EXPECT_TRUE(low && high);
}

}  // namespace fairlead
