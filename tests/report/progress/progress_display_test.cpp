// The text on the screen at a given time, on terminals of any width.
#include "report/progress/progress_display.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <chrono>

namespace fairlead::report {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

ProgressSnapshot done(std::uint64_t tasks) {
  return {.phase = "factorization",
          .tasks_done = tasks,
          .tasks_total = 1000,
          .flops_done = 1e9 * static_cast<double>(tasks),
          .flops_total = 1e12,
          .bytes_read = 1'500'000'000,
          .bytes_written = 20'000'000};
}

// A display that was started at time zero.
ProgressDisplay begun(ProgressStyle style) {
  ProgressDisplay display(style);
  display.at(0s, done(0), 120);
  return display;
}

}  // namespace

TEST(ProgressBar, ShowsTasksRateBytesAndTheTimeLeft) {
  ProgressDisplay display = begun(ProgressStyle::bar);
  EXPECT_EQ(display.at(4s, done(400), 120),
            "\r[##########...............]   40 %  factorization  400/1,000 tasks  100 GFlop/s  "
            "read 1.50 GB, wrote 20.0 MB  0:06 left");
}

TEST(ProgressBar, ShowsAllPartsInEightyColumns) {
  ProgressDisplay display = begun(ProgressStyle::bar);
  EXPECT_EQ(display.at(4s, done(400), 80),
            "\r[#####.........]   40 %  400/1,000  100 GFlop/s  r 1.50 GB w 20.0 MB  0:06 left");
}

TEST(ProgressBar, DropsTheBarThenBytesThenTasksOnNarrowTerminals) {
  const auto at_width = [](std::size_t columns) {
    ProgressDisplay display(ProgressStyle::bar);
    display.at(0s, done(0), 0);
    return display.at(4s, done(400), columns);
  };
  EXPECT_EQ(at_width(63), "\r 40 %  400/1,000  100 GFlop/s  r 1.50 GB w 20.0 MB  0:06 left");
  EXPECT_EQ(at_width(50), "\r 40 %  400/1,000  100 GFlop/s  0:06 left");
  EXPECT_EQ(at_width(35), "\r 40 %  100 GFlop/s  0:06 left");
  EXPECT_EQ(at_width(20), "\r 40 %  0:06 left");
}

// The last column is never written: some terminals wrap there.
TEST(ProgressBar, NeverReachesTheLastColumn) {
  for (std::size_t columns = 0; columns < 200; ++columns) {
    ProgressDisplay display(ProgressStyle::bar);
    display.at(0s, done(0), columns);
    for (const std::uint64_t tasks : {1, 10, 500, 1000}) {
      const std::string text = display.at(Time(4s) * static_cast<int>(tasks), done(tasks), columns);
      ASSERT_THAT(text, StartsWith("\r"));
      ASSERT_LE(text.size() - 1, columns == 0 ? 0 : columns - 1) << columns;
    }
  }
}

TEST(ProgressBar, OfANarrowTerminalIsThePercentage) {
  ProgressDisplay display = begun(ProgressStyle::bar);
  display.end(0s, done(0));
  EXPECT_EQ(display.at(4s, done(400), 8), "\r 40 %");
}

TEST(ProgressBar, AShorterLineCoversALongerOne) {
  ProgressDisplay display(ProgressStyle::bar);
  ProgressSnapshot first{.phase = "a long name of a phase"}, second{.phase = "short"};
  const std::string before = display.at(0s, first, 80), after = display.at(1s, second, 80);
  EXPECT_EQ(after.size(), before.size());
  EXPECT_THAT(display.at(2s, second, 80), Not(testing::EndsWith(" ")));  // nothing is left to cover
}

TEST(ProgressBar, IsBlankAtTheEnd) {
  ProgressDisplay display(ProgressStyle::bar);
  const std::string shown = display.at(1s, done(3), 60);
  EXPECT_EQ(display.end(2s, done(4)), '\r' + std::string(shown.size() - 1, ' ') + '\r');
  EXPECT_EQ(display.end(2s, done(4)), "");
}

TEST(ProgressBar, IsFullOnlyWhenEveryTaskIsDone) {
  ProgressDisplay display = begun(ProgressStyle::bar);
  ProgressSnapshot nearly = done(999);
  nearly.flops_done = nearly.flops_total;
  EXPECT_THAT(display.at(9s, nearly, 120), HasSubstr(" 99 %"));
  EXPECT_THAT(display.at(9s, nearly, 120), Not(HasSubstr("#]")));
  EXPECT_THAT(display.at(10s, done(1000), 120), HasSubstr("#]  100 %"));
}

TEST(ProgressBar, DoesNotGuessFromTheFirstTasks) {
  ProgressDisplay display = begun(ProgressStyle::bar);
  EXPECT_THAT(display.at(500ms, done(100), 120), Not(HasSubstr("left")));
  EXPECT_THAT(display.at(5s, done(9), 120), Not(HasSubstr("left")));
  EXPECT_THAT(display.at(5s, done(10), 120), HasSubstr("8:15 left"));
}

TEST(ProgressBar, WithoutKnownFlopsCountsTasks) {
  ProgressDisplay display(ProgressStyle::bar);
  const ProgressSnapshot begin{.tasks_done = 0, .tasks_total = 10}, half{.tasks_done = 5, .tasks_total = 10};
  display.at(0s, begin, 120);
  const std::string text = display.at(10s, half, 120);
  EXPECT_THAT(text, HasSubstr(" 50 %"));
  EXPECT_THAT(text, HasSubstr("0:10 left"));
  EXPECT_THAT(text, Not(HasSubstr("GFlop/s")));
}

TEST(ProgressBar, HasNoBarBeforeTheNumberOfTasksIsKnown) {
  ProgressDisplay display(ProgressStyle::bar);
  EXPECT_EQ(display.at(0s, {.phase = "reading", .bytes_read = 5000}, 80),
            "\rreading  read 5.00 kB, wrote 0 B");
}

// 50 GFlop in 5 s of reading and 2 s of factorization are 25 GFlop/s of factorization, not 7.
TEST(ProgressBar, RateAndTimeLeftAreThoseOfThePhase) {
  ProgressDisplay display(ProgressStyle::bar);
  display.at(0s, {.phase = "reading", .tasks_done = 0, .tasks_total = 4}, 120);
  display.at(5s, done(0), 120);
  const std::string text = display.at(7s, done(50), 120);
  EXPECT_THAT(text, HasSubstr(" 25 GFlop/s"));
  EXPECT_THAT(text, HasSubstr("0:38 left"));
}

TEST(ProgressLines, ComeAtMostEveryFiveSecondsAndTenPerCent) {
  ProgressDisplay display = begun(ProgressStyle::lines);
  EXPECT_EQ(display.at(4s, done(400), 0), "");
  EXPECT_EQ(
      display.at(5s, done(400), 0),
      "factorization: 40 %, 400/1,000 tasks, 80 GFlop/s, read 1.50 GB, wrote 20.0 MB, 0:05 elapsed, 0:08 "
      "left\n");
  EXPECT_EQ(display.at(9s, done(900), 0), "");   // further, but too soon
  EXPECT_EQ(display.at(30s, done(499), 0), "");  // later, but not a tenth further
  EXPECT_NE(display.at(30s, done(500), 0), "");
}

TEST(ProgressLines, AreNotSilentForMoreThanAMinute) {
  ProgressDisplay display = begun(ProgressStyle::lines);
  EXPECT_EQ(display.at(59s, done(1), 0), "");
  EXPECT_NE(display.at(60s, done(1), 0), "");
  EXPECT_EQ(display.at(119s, done(2), 0), "");
  EXPECT_NE(display.at(120s, done(2), 0), "");
}

TEST(ProgressLines, EndWithOneLastLine) {
  ProgressDisplay display = begun(ProgressStyle::lines);
  EXPECT_THAT(display.end(3s, done(1000)), HasSubstr("100 %, 1,000/1,000 tasks"));
  EXPECT_EQ(display.end(3s, done(1000)), "");
}

TEST(ProgressNone, IsSilent) {
  ProgressDisplay display(ProgressStyle::none);
  EXPECT_EQ(display.at(100s, done(500), 80), "");
  EXPECT_EQ(display.end(100s, done(500)), "");
}

TEST(ProgressStyle, IsABarOnlyOnATerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(progress_style("auto", ends[1]), ProgressStyle::lines);
  EXPECT_EQ(progress_style("bar", ends[1]), ProgressStyle::bar);
  EXPECT_EQ(progress_style("lines", ends[1]), ProgressStyle::lines);
  EXPECT_EQ(progress_style("none", ends[1]), ProgressStyle::none);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace fairlead::report
