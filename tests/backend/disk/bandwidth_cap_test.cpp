// The cap's timetable in virtual time.
#include "backend/disk/bandwidth_cap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace fairlead::backend {

using namespace std::chrono_literals;

TEST(BandwidthCap, ReservationsAreConsecutiveForAnyNumberOfThreads) {
  BandwidthCap cap(250'000'000);
  for (int i = 0; i < 4; ++i) {
    const auto stretch = cap.book(1'000'000, 10s);
    EXPECT_EQ(stretch.begin, 10s - BandwidthCap::most_behind + i * 4ms);
    EXPECT_EQ(stretch.end, stretch.begin + 4ms);
  }
}

TEST(BandwidthCap, UnusedTimeDoesNotAccumulate) {
  BandwidthCap cap(100'000'000);
  cap.book(1'000'000, 1s);
  EXPECT_EQ(cap.book(1'000'000, 60s).begin, 60s - BandwidthCap::most_behind);
}

TEST(BandwidthCap, WithoutACapNoRequestWaits) {
  BandwidthCap cap(0);
  EXPECT_FALSE(cap.active());
  EXPECT_EQ(cap.book(~Bytes{0}, 5s).end, 5s);
}

TEST(BandwidthCap, RequestsOfAByteAndOfAnExabyteKeepTheRate) {
  BandwidthCap slow(3), fast(Bytes{1} << 40);
  for (int i = 0; i < 3000; ++i) slow.book(1, 0s);
  EXPECT_NEAR(seconds(slow.book(3, 0s).end), 1001, 0.01);
  EXPECT_NEAR(seconds(fast.book(Bytes{1} << 50, 0s).end), 1024, 0.01);
}

// Threads that wake up to 0.3 ms late, in virtual time: in each second, the delivered bytes are within 2 % of the
// cap.
TEST(BandwidthCap, LateThreadsKeepTheRateWithinTwoPercent) {
  for (const unsigned threads : {1u, 4u}) {
    for (const Bytes bytes : {64'000u, 2'000'000u}) {
      constexpr double rate = 250e6;
      BandwidthCap cap(static_cast<Bytes>(rate));
      Random random(threads + bytes);
      std::vector<Time> free_at(threads, 1s);
      std::vector<double> delivered(5, 0.0);  // in each second from the first on
      for (;;) {
        Time& thread = *std::ranges::min_element(free_at);
        const auto stretch = cap.book(bytes, thread);
        const auto late = Duration(random.below(300'000));
        thread = std::max(thread, stretch.end) + (stretch.end > thread ? late : Duration(0));
        const auto second = static_cast<std::size_t>(seconds(thread) - 1);
        if (second >= delivered.size()) break;
        delivered[second] += static_cast<double>(bytes);
      }
      for (const double sum : delivered) EXPECT_NEAR(sum / rate, 1, 0.02) << threads << " threads, " << bytes;
    }
  }
}

}  // namespace fairlead::backend
