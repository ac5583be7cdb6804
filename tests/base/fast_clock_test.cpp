// The processor's counter compared with the system's clock.
#include "base/fast_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace fairlead {

// Each reading lies between two readings of the system's clock, so an interruption widens the bounds only.
TEST(FastClock, RunsAtTheSpeedOfTheSystemsClock) {
  using Clock = std::chrono::steady_clock;
  const FastClock clock;
  const auto before_first = Clock::now();
  const Time first = clock.now();
  const auto after_first = Clock::now();
  while (Clock::now() - after_first < std::chrono::milliseconds(50)) {
  }
  const auto before_second = Clock::now();
  const Time second = clock.now();
  const auto after_second = Clock::now();
  EXPECT_GT(seconds(second - first), seconds(Duration(before_second - after_first)) * 0.995);
  EXPECT_LT(seconds(second - first), seconds(Duration(after_second - before_first)) * 1.005);
}

TEST(FastClock, IsMonotonicInOneThread) {
  const FastClock clock;
  Time last = clock.now();
  for (int i = 0; i < 100000; ++i) {
    const Time now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace fairlead
