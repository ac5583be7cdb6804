// A running program reports its status on request. tests/torture/kills.cpp checks what a killed one leaves.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "misuse/command/folder.hpp"

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The program in the background, with its error stream.
class Running {
 public:
  Running(const Folder& folder, const std::string& words) {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    errors_ = memfd_create("errors", MFD_CLOEXEC);
    process_ = folder.start(words, nothing, nothing, errors_);
    close(nothing);
  }
  ~Running() {
    end(SIGKILL);
    close(errors_);
  }
  pid_t process() const { return process_; }
  bool over() {
    if (!over_) over_ = waitpid(process_, &status_, WNOHANG) == process_;
    return over_;
  }
  void end(int signal) {
    if (over_) return;
    kill(process_, signal);
    waitpid(process_, &status_, 0);
    over_ = true;
  }
  int status() const { return status_; }
  std::string errors() const {
    std::string text(1 << 16, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(errors_, text.data(), text.size(), 0))));
    return text;
  }

 private:
  pid_t process_;
  int errors_, status_ = 0;
  bool over_ = false;
};

template <class Condition>
bool happens(Condition condition) {
  for (const auto end = Clock::now() + 30s; !condition(); std::this_thread::sleep_for(2ms))
    if (Clock::now() > end) return false;
  return true;
}

constexpr const char* slow_run =
    "bench cholesky --n 1024 --tile 64 --workers 2 --disk-bandwidth 1MB/s --progress none";

}  // namespace

TEST(Running, ReportsItsStatusOnRequest) {
  Folder folder;
  Running run(folder, slow_run);
  Answer answer;
  const std::string ask = "status " + std::to_string(run.process());
  ASSERT_TRUE(happens([&] {
    answer = folder.run(ask);
    return answer.output.find("disk") != std::string::npos || run.over();
  })) << answer.errors;
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.output, AllOf(HasSubstr("fairlead: "), HasSubstr("A["), HasSubstr("RAM")));
  kill(run.process(), SIGUSR1);
  EXPECT_TRUE(happens([&] { return run.errors().find("RAM") != std::string::npos; })) << run.errors();
  EXPECT_FALSE(run.over());
  run.end(SIGTERM);
  EXPECT_THAT(run.errors(), HasSubstr("terminated (SIGTERM)"));
  answer = folder.run(ask);
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.errors, HasSubstr("no run of fairlead has this process ID, or it has finished"));
}

TEST(Running, OfAnotherProgramPrintsNothing) {
  Folder folder;
  const Answer answer = folder.run("status " + std::to_string(getpid()));
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.errors, HasSubstr("no run of fairlead"));
}

}  // namespace fairlead::misuse
