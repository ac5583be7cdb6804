// The drawing thread, on pseudo terminals and pipes.
#include "report/progress/progress_reporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>
#include <atomic>
#include <chrono>

namespace fairlead::report {

using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

// A pseudo terminal with that many columns: the program writes to `inside`, and the text arrives at the other
// end.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (openpty(&outside_, &inside, nullptr, nullptr, &size) != 0)
      throw std::runtime_error("no pseudo terminal");
  }
  ~Terminal() {
    close(inside);
    close(outside_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Everything shown up to `text`, or within 20 seconds.
  std::string shown_until(const std::string& text) {
    pollfd wanted{.fd = outside_, .events = POLLIN, .revents = 0};
    while (shown_.find(text) == std::string::npos && poll(&wanted, 1, 20'000) == 1) {
      char buffer[4096];
      const ssize_t count = read(outside_, buffer, sizeof buffer);
      if (count <= 0) break;
      shown_.append(buffer, static_cast<std::size_t>(count));
    }
    return shown_;
  }

  int inside = -1;

 private:
  int outside_ = -1;
  std::string shown_;
};

// A run of 100 tasks whose progress the test sets.
struct WatchedRun {
  std::atomic<std::uint64_t> tasks = 0;
  std::atomic<int> questions = 0;
  std::atomic<std::int64_t> now_ns = 0;

  ProgressReporter::Options shown_on(int fd, ProgressStyle style) {
    return {.style = style,
            .snapshot =
                [this] {
                  ++questions;
                  return ProgressSnapshot{.phase = "work", .tasks_done = tasks, .tasks_total = 100};
                },
            .fd = fd,
            .interval = 1ms,
            .now = [this] { return Time(now_ns.load()); }};
  }
};

}  // namespace

TEST(Progress, IsRedrawnInPlaceDuringTheRun) {
  Terminal terminal(60);
  WatchedRun run;
  {
    ProgressReporter progress(run.shown_on(terminal.inside, progress_style("auto", terminal.inside)));
    EXPECT_THAT(terminal.shown_until("0/100"), HasSubstr("0/100 tasks"));
    run.tasks = 42;
    EXPECT_THAT(terminal.shown_until("42/100"), HasSubstr("\r["));
  }
  // The line is blank and the cursor at its start; no new line was written.
  const std::string shown = terminal.shown_until("  \r");
  EXPECT_THAT(shown, testing::EndsWith("  \r"));
  EXPECT_EQ(shown.find('\n'), std::string::npos);
}

TEST(Progress, KeepsToTheWidthOfTheTerminal) {
  Terminal terminal(12);
  WatchedRun run;
  ProgressReporter progress(run.shown_on(terminal.inside, ProgressStyle::bar));
  run.tasks = 42;
  EXPECT_THAT(terminal.shown_until("42 %"), testing::Not(HasSubstr("tasks")));
}

TEST(Progress, WritesLinesToAPipeByTheGivenClock) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  WatchedRun run;
  {
    ProgressReporter progress(run.shown_on(ends[1], progress_style("auto", ends[1])));
    while (run.questions.load() < 2) std::this_thread::yield();  // it has seen the start
    run.tasks = 50;
    run.now_ns = Time(10s).count();
    char buffer[200];
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    ASSERT_GT(count, 0);
    EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(count)),
              "work: 50 %, 50/100 tasks, read 0 B, wrote 0 B, 0:10 elapsed, 0:10 left\n");
  }
  close(ends[1]);
  char rest = 0;
  EXPECT_EQ(read(ends[0], &rest, 1), 0);  // the last line was already written
  close(ends[0]);
}

TEST(Progress, WithStyleNoneTakesNoSnapshot) {
  WatchedRun run;
  ProgressReporter progress(run.shown_on(2, ProgressStyle::none));
  progress.stop();
  EXPECT_EQ(run.questions, 0);
}

TEST(Progress, StopsAtOnceHoweverLongItsInterval) {
  Terminal terminal(80);
  WatchedRun run;
  ProgressReporter::Options options = run.shown_on(terminal.inside, ProgressStyle::bar);
  options.interval = 1h;
  const auto begin = std::chrono::steady_clock::now();
  ProgressReporter progress(std::move(options));
  progress.stop();
  progress.stop();  // once is enough, twice does no harm
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1min);
}

TEST(Progress, ToAClosedStreamIsNoError) {
  WatchedRun run;
  ProgressReporter progress(run.shown_on(-1, ProgressStyle::bar));
  while (run.questions.load() < 3) std::this_thread::yield();
}

}  // namespace fairlead::report
