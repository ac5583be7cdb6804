// Numbers as text.
#include "report/units.hpp"

#include <gtest/gtest.h>

namespace fairlead::report {

TEST(Units, CommasStandEveryThreeDigits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(18446744073709551615u), "18,446,744,073,709,551,615");
}

TEST(Units, MovedBytesHaveThreeDigits) {
  EXPECT_EQ(moved_bytes(0), "0 B");
  EXPECT_EQ(moved_bytes(999), "999 B");
  EXPECT_EQ(moved_bytes(1000), "1.00 kB");
  EXPECT_EQ(moved_bytes(43'120'000), "43.1 MB");
  EXPECT_EQ(moved_bytes(999'900'000), "1.00 GB");  // not "1000 MB"
  EXPECT_EQ(moved_bytes(2'505'419'440), "2.51 GB");
  EXPECT_EQ(moved_bytes(18446744073709551615u), "18.4 EB");
}

TEST(Units, SecondsChooseTheirUnit) {
  EXPECT_EQ(readable_seconds(0), "0 s");
  EXPECT_EQ(readable_seconds(0.0000123), "12 us");
  EXPECT_EQ(readable_seconds(0.0412), "41 ms");
  EXPECT_EQ(readable_seconds(0.9996), "1.00 s");
  EXPECT_EQ(readable_seconds(12.34), "12.3 s");
  EXPECT_EQ(readable_seconds(245.2), "4 min 05 s");
  EXPECT_EQ(readable_seconds(7650), "2 h 07 min");
}

TEST(Units, AClockShowsHoursOnlyIfThereAreAny) {
  EXPECT_EQ(clock_time(7.4), "0:07");
  EXPECT_EQ(clock_time(725), "12:05");
  EXPECT_EQ(clock_time(3765), "1:02:45");
  EXPECT_EQ(clock_time(-1), "0:00");
}

TEST(Units, PerCentDoesNotRoundUpToAll) {
  EXPECT_EQ(percent(94.4, 100), "94 %");
  EXPECT_EQ(percent(99.8, 100), "99.8 %");
  EXPECT_EQ(percent(1, 1), "100 %");
  EXPECT_EQ(percent(3.46, 100), "3.5 %");
  EXPECT_EQ(percent(0.12, 100), "0.12 %");
  EXPECT_EQ(percent(0, 100), "0 %");
  EXPECT_EQ(percent(1, 0), "-");
}

}  // namespace fairlead::report
