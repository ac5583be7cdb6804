// Processes that are ended from outside: another one, if it is still the intended one, and this one, by the system.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/lost_process.hpp"
#include "net/process_address.hpp"

namespace fairlead::net::tests {
namespace {

using namespace std::chrono_literals;

TEST(LostProcess, AStoppedProcessIsKilledIfItIsTheIntendedOne) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto started = process_start_time(child);
  ASSERT_TRUE(started);
  EXPECT_FALSE(kill_process(child, *started + 1));
  EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0);  // it still runs
  EXPECT_TRUE(kill_process(child, *started));
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_FALSE(kill_process(child, *started));
  EXPECT_FALSE(process_start_time(child));
}

TEST(LostProcess, TheOwnProcessIsNotKilled) {
  EXPECT_FALSE(kill_process(::getpid(), *process_start_time(::getpid())));
}

TEST(LostProcess, AProcessThatIgnoresSignalsEndsAfterTheTimeout) {
  const pid_t child = ::fork();
  if (child == 0) {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
    if (!kill_self_after(200ms)) ::_exit(7);
    for (;;) ::pause();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(ProcessAddress, IsReadAsItWasWritten) {
  ProcessAddress own = own_address();
  EXPECT_EQ(own.process, ::getpid());
  EXPECT_EQ(own.started, process_start_time(::getpid()));
  EXPECT_FALSE(own.machine.empty());
  EXPECT_EQ(parse_address(text_of(own)), own);
  own.local = "fairlead rank 1 2";
  own.port = 40000;
  own.addresses = {"192.0.2.1", "2001:db8::1"};
  own.token = random_token();
  EXPECT_EQ(parse_address(text_of(own)), own);
  EXPECT_NE(random_token(), random_token());
}

TEST(ProcessAddress, RejectsInvalidText) {
  EXPECT_FALSE(parse_address(""));
  EXPECT_FALSE(parse_address("a\nb\nc\n1\nd\n2\n\n"));
  EXPECT_FALSE(parse_address("a\nb\n1\n1\nd\n70000\n\n"));
  EXPECT_FALSE(parse_address("a\nb\n1\n1\nd\n2\n\n12"));
  EXPECT_TRUE(parse_address("a\nb\n1\n1\nd\n2\n\n"));
}

}  // namespace
}  // namespace fairlead::net::tests
