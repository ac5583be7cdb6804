// Each test sends signals to a child process and checks how it ends.
#include "fairlead/run/interrupt.hpp"

#include <fairlead/error.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/subcommand.hpp"

namespace fairlead::app {

namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

void send(int number) { kill(getpid(), number); }

// Sends a signal as the keyboard of the terminal does.
void type_control_c() {
  siginfo_t info{};
  info.si_signo = SIGINT;
  info.si_code = SI_KERNEL;
  syscall(SYS_rt_sigqueueinfo, getpid(), SIGINT, &info);
}

// Waits for an action of another thread, for at most 20 seconds.
template <class Condition>
bool happens(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Ends the process if it does not happen.
void wait_for(std::promise<void>& promise) {
  if (promise.get_future().wait_for(std::chrono::seconds(20)) != std::future_status::ready) std::exit(3);
}

std::vector<std::filesystem::path> files_made_for(pid_t test) {
  const auto path = std::filesystem::temp_directory_path() / ("fairlead-being-made-" + std::to_string(test));
  return {path.string() + "-1", path.string() + "-2"};
}

// The second signal arrives while the second file is created.
void make_files_and_send_two_signals() {
  const Interrupt interrupt([] {});
  std::vector<std::filesystem::path> made;
  for (const auto& path : files_made_for(getppid()))
    Interrupt::removes_at_exit([&] {
      made.push_back(path);
      std::ofstream(path) << "half";
      send(SIGTERM);
      if (!happens([] { return Interrupt::signal() == SIGTERM; })) std::exit(2);
      return made;
    });
  std::exit(1);
}

class InterruptDeathTest : public testing::Test {
 protected:
  // The child starts again from main(), with one thread, as ThreadSanitizer requires.
  InterruptDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

}  // namespace

TEST_F(InterruptDeathTest, TheFirstControlCCancelsAndTheProgramChoosesItsExit) {
  EXPECT_EXIT(
      {
        std::promise<void> cancelled;
        Interrupt interrupt([&] { cancelled.set_value(); });
        if (Interrupt::signal() != 0) std::exit(1);
        send(SIGINT);
        wait_for(cancelled);
        std::exit(Interrupt::signal() == SIGINT ? 42 : 2);
      },
      ExitedWithCode(42), "");
}

TEST_F(InterruptDeathTest, ASecondControlCEndsAtOnceDuringTheFirst) {
  EXPECT_EXIT(
      {
        std::promise<void> cancelling;
        std::promise<void> never;
        Interrupt interrupt(
            [&] {
              cancelling.set_value();
              never.get_future().wait();
            },
            "end of line\n");
        send(SIGINT);
        wait_for(cancelling);
        send(SIGINT);
        happens([] { return false; });
      },
      ExitedWithCode(130), "end of line\n");
}

// A file that exists but is not yet in the list of files to remove would remain: the thread that creates it
// finishes first.
TEST_F(InterruptDeathTest, ASecondControlCRemovesFilesInCreation) {
  EXPECT_EXIT(make_files_and_send_two_signals(), ExitedWithCode(143), "");
  for (const auto& path : files_made_for(getpid())) EXPECT_FALSE(std::filesystem::exists(path)) << path;
}

TEST_F(InterruptDeathTest, TerminationIsHandledAlikeWithADifferentExitCode) {
  EXPECT_EXIT(
      {
        std::promise<void> cancelled;
        Interrupt interrupt([&] { cancelled.set_value(); });
        send(SIGTERM);
        wait_for(cancelled);
        if (Interrupt::signal() != SIGTERM) std::exit(1);
        send(SIGTERM);
        happens([] { return false; });
      },
      ExitedWithCode(143), "");
}

TEST_F(InterruptDeathTest, ASignalAfterItsLifetimeEndsTheProcess) {
  EXPECT_EXIT(
      {
        {
          Interrupt interrupt([] {});
        }
        send(SIGINT);
        happens([] { return false; });
      },
      KilledBySignal(SIGINT), "");
}

TEST_F(InterruptDeathTest, ASignalToAnyThreadCounts) {
  EXPECT_EXIT(
      {
        std::atomic<int> cancelled = 0;
        Interrupt interrupt([&] { ++cancelled; });
        std::thread([] { pthread_kill(pthread_self(), SIGINT); }).join();
        std::exit(happens([&] { return cancelled == 1; }) ? 42 : 1);
      },
      ExitedWithCode(42), "");
}

// `fairlead ... &` in a script: Ctrl-C typed there means the script's program in the foreground.
TEST_F(InterruptDeathTest, InTheBackgroundOnlySentSignalsCount) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_IGN);
        std::atomic<int> cancelled = 0;
        Interrupt interrupt([&] { ++cancelled; });
        type_control_c();
        type_control_c();
        if (Interrupt::signal() != 0) std::exit(1);
        send(SIGINT);
        std::exit(happens([&] { return cancelled == 1; }) ? 42 : 2);
      },
      ExitedWithCode(42), "");
}

TEST_F(InterruptDeathTest, InTheForegroundTheKeyboardCounts) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);
        Interrupt interrupt([] {});
        type_control_c();
        happens([] { return Interrupt::signal() == SIGINT; });
        type_control_c();
        happens([] { return false; });
      },
      ExitedWithCode(130), "");
}

// The result is complete: later reports are still written, and the exit status is that of the result.
TEST_F(InterruptDeathTest, AfterFinishOneSignalHasNoEffect) {
  for (const bool gone : {false, true})
    EXPECT_EXIT(
        {
          std::optional<Interrupt> interrupt(std::in_place, [] { std::_Exit(1); });
          bool made = false;
          Interrupt::finish([&] {
            send(SIGINT);
            made = true;
          });
          if (gone) interrupt.reset();
          std::exit(made && Interrupt::signal() == 0 ? 42 : 2);
        },
        ExitedWithCode(42), "");
}

TEST_F(InterruptDeathTest, AfterFinishASecondSignalEndsAtOnce) {
  EXPECT_EXIT(
      {
        {
          Interrupt interrupt([] { std::_Exit(1); });
          Interrupt::finish([] {});
        }
        send(SIGINT);
        send(SIGTERM);
        happens([] { return false; });
      },
      ExitedWithCode(143), "");
}

TEST_F(InterruptDeathTest, ASignalBeforeFinishOrAFailureInItCounts) {
  EXPECT_EXIT(
      {
        std::promise<void> cancelled;
        Interrupt interrupt([&] { cancelled.set_value(); });
        try {
          Interrupt::finish([] { throw SystemError("no space"); });
        } catch (const SystemError&) {
          send(SIGTERM);
        }
        wait_for(cancelled);
        bool called = false;
        try {
          Interrupt::finish([&] { called = true; });
        } catch (const Interrupted& interrupted) {
          std::exit(interrupted.signal == SIGTERM && !called ? 42 : 2);
        }
      },
      ExitedWithCode(42), "");
}

TEST(Interrupt, WithoutASignalNothingIsCancelledAndHandlersAreAsBefore) {
  struct sigaction before = {}, after = {};
  sigaction(SIGTERM, nullptr, &before);
  bool cancelled = false;
  {
    Interrupt interrupt([&] { cancelled = true; });
    sigaction(SIGTERM, nullptr, &after);
    EXPECT_NE(after.sa_flags & SA_SIGINFO, before.sa_flags & SA_SIGINFO);
  }
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  EXPECT_FALSE(cancelled);
}

TEST(Interrupt, OneAtATimeAndAnotherAfterwards) {
  {
    Interrupt first([] {});
    EXPECT_THROW(Interrupt([] {}), UsageError);
  }
  EXPECT_NO_THROW(Interrupt([] {}));
}

TEST(Interrupt, TheFirstSignalOfEachRunIsHandledOnce) {
  for (int run = 0; run < 50; ++run) {
    std::atomic<int> cancelled = 0;
    {
      Interrupt interrupt([&] { ++cancelled; });
      send(SIGINT);
      // Destroyed while the signal is being served, or after.
      if (run % 2 == 0) {
        ASSERT_TRUE(happens([&] { return cancelled == 1; }));
      }
    }
    ASSERT_EQ(Interrupt::signal(), SIGINT);
    ASSERT_EQ(cancelled, 1);
  }
}

}  // namespace fairlead::app
