// Ctrl-C and SIGTERM at several moments of a run on a terminal: the program ends soon, restores the terminal,
// prints one line, and leaves nothing in the folder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <string>

#include "misuse/command/folder.hpp"
#include "sanitized.hpp"

namespace fairlead::misuse {
namespace {

using Clock = std::chrono::steady_clock;

struct Moment {
  const char* name;
  const char* words;
  const char* shown;  // on the progress bar when the signal is sent
  int signal;
};

class Interrupted : public testing::TestWithParam<Moment> {};

struct Ended {
  std::string shown;
  int status = 0;
  double seconds = 0;  // from the signal to the end
  bool signalled = false, terminal_as_before = false;
};

Ended interrupt(const Folder& folder, const Moment& moment) {
  int terminal = -1, program = -1;
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 30;
  EXPECT_EQ(openpty(&terminal, &program, nullptr, nullptr, &size), 0);
  fcntl(terminal, F_SETFD, FD_CLOEXEC);
  termios before{}, after{};
  tcgetattr(program, &before);
  const pid_t child = folder.start(moment.words, program, program, program);
  Ended ended;
  Clock::time_point sent;
  const auto give_up = Clock::now() + std::chrono::seconds(60);
  for (bool over = false;;) {
    pollfd ready{terminal, POLLIN, 0};
    char buffer[4096];
    if (poll(&ready, 1, 10) > 0) {
      const ssize_t count = ::read(terminal, buffer, sizeof buffer);
      if (count > 0) ended.shown.append(buffer, static_cast<std::size_t>(count));
      continue;
    }
    if (over) break;  // all of its output has been read
    if (!ended.signalled && ended.shown.find(moment.shown) != std::string::npos) {
      ended.signalled = true;
      sent = Clock::now();
      kill(child, moment.signal);
    }
    if (waitpid(child, &ended.status, WNOHANG) == child) {
      over = true;
      ended.seconds = std::chrono::duration<double>(Clock::now() - sent).count();
    }
    if (Clock::now() > give_up) {
      kill(child, SIGKILL);
      ADD_FAILURE() << "it did not end";
    }
  }
  tcgetattr(program, &after);
  ended.terminal_as_before = std::memcmp(&before, &after, sizeof before) == 0;
  close(program);
  close(terminal);
  return ended;
}

TEST_P(Interrupted, EndsSoonAndLeavesNothing) {
  const Moment& moment = GetParam();
  Folder folder;
  constexpr int n = 1024;
  folder.array("big.npy", "<f8", "(1024, 1024)", spd_elements(n));
  folder.array("right.npy", "<f8", "(1024,)", bytes_of(std::vector<double>(n, 1.0)));
  const auto before = folder.everything();
  const Ended ended = interrupt(folder, moment);
  ASSERT_TRUE(ended.signalled) << ended.shown;
  ASSERT_TRUE(WIFEXITED(ended.status)) << ended.shown;
  EXPECT_EQ(WEXITSTATUS(ended.status), 128 + moment.signal);
  // A program that is sanitized, or on a disk and cores that others use, needs longer than the tenths of a second that it takes.
  EXPECT_LT(ended.seconds, tests::sanitized ? 20 : 10);
  EXPECT_TRUE(ended.terminal_as_before);
  // Blanks erase the bar, and one line follows.
  const std::string message = moment.signal == SIGINT ? "\rfairlead: interrupted (SIGINT)\r\n"
                                                      : "\rfairlead: terminated (SIGTERM)\r\n";
  EXPECT_THAT(ended.shown, testing::EndsWith(message));
  EXPECT_EQ(ended.shown.find('\n'), ended.shown.size() - 1) << ended.shown;
  EXPECT_EQ(ended.shown.find('\033'), std::string::npos) << "a control sequence";
  EXPECT_TRUE(folder.everything() == before) << "something was left or changed";
}

// The disk is slow enough for each phase to last; the last one is so slow that its flush takes a minute.
#define SLOWLY " --workers 2 --tile 64 --disk-bandwidth 8MB/s"
INSTANTIATE_TEST_SUITE_P(
    Moments, Interrupted,
    testing::Values(
        Moment{"SolveWhileReading", "solve big.npy right.npy -o x.npy --memory 6500KiB" SLOWLY, "reading",
               SIGINT},
        Moment{"SolveWhileFactoring", "solve big.npy right.npy -o x.npy --memory 6500KiB" SLOWLY,
               "factorization", SIGINT},
        Moment{"SolveWhileSolving", "solve big.npy right.npy -o x.npy --memory 6500KiB" SLOWLY, " solve ",
               SIGINT},
        Moment{"SolveTerminated", "solve big.npy right.npy -o x.npy --memory 6500KiB" SLOWLY, "factorization",
               SIGTERM},
        Moment{"BenchWhileFactoring", "bench cholesky --n 1024 --memory 4MiB" SLOWLY, "factorization",
               SIGINT},
        // So many tasks that submission lasts for the whole run.
        Moment{"BenchWhileSubmitting", "bench cholesky --n 1024 --memory 8MiB --workers 2 --tile 8",
               "factorization", SIGINT},
        Moment{"BenchTerminatedWhileSubmitting", "bench cholesky --n 1024 --memory 8MiB --workers 2 --tile 8",
               "factorization", SIGTERM},
        Moment{"BenchWhileSolving", "bench cholesky --n 1024 --memory 4MiB" SLOWLY, " solve ", SIGINT},
        Moment{"BenchTerminated", "bench cholesky --n 1024 --memory 4MiB" SLOWLY, "factorization", SIGTERM},
        Moment{"BenchWhileFlushing",
               "bench cholesky --n 1024 --memory 6MiB --workers 2 --tile 64 "
               "--disk-bandwidth 60kB/s",
               "generation  136/136", SIGINT}),
    [](const auto& moment) { return moment.param.name; });
#undef SLOWLY

}  // namespace
}  // namespace fairlead::misuse
