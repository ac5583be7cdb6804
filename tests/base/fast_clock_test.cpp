// The processor's counter against the system's clock.
#include "base/fast_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace fairlead {

TEST(FastClock, GoesAsFastAsTheSystemsClock) {
  const FastClock clock;
  const Time begin = clock.now();
  const auto system_begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - system_begin < std::chrono::milliseconds(50)) {
  }
  const Time elapsed = clock.now() - begin;
  const auto system_elapsed = std::chrono::steady_clock::now() - system_begin;
  EXPECT_NEAR(seconds(elapsed), seconds(Duration(system_elapsed)), 0.005);
}

TEST(FastClock, NeverGoesBackInOneThread) {
  const FastClock clock;
  Time last = clock.now();
  for (int i = 0; i < 100000; ++i) {
    const Time now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace fairlead
