// Unusual files and file systems: without unnamed files, interrupted, not replaceable, altered.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "misuse/command/folder.hpp"
#include "shim/shim.hpp"

namespace fairlead::misuse {
namespace {

using shim::Effect;
using shim::FileOperation;
using shim::Shim;
using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

#if !defined(FAIRLEAD_ADDRESS_SANITIZED) && \
    !defined(FAIRLEAD_THREAD_SANITIZED)  // sanitizers must be loaded first

TEST(FileFaults, ASignalDuringTheReservationOfSpaceIsNoFailure) {
  Folder folder;
  const Shim shim;
  shim.plan().operation = FileOperation::allocate;
  shim.plan().effect = Effect::fail;
  shim.plan().number = EINTR;
  shim.plan().times = 3;
  const Answer answer = folder.run("solve A.npy b.npy -o x.npy --progress none", shim.environment());
  EXPECT_EQ(answer.exit_code, 0) << answer.errors;
  EXPECT_EQ(shim.plan().done, 3u);
}

/// The outputs under the names that they have until they are complete.
std::ptrdiff_t partials(const Folder& folder) {
  return std::ranges::count_if(std::filesystem::directory_iterator(folder.path()),
                               [](const auto& entry) { return entry.path().extension() == ".partial"; });
}

/// Named temporary outputs are removed at the end of the run, also by one signal, or two at once.
void expect_nothing_left(const std::string& words, std::ptrdiff_t outputs, int signal) {
  Folder folder;
  constexpr int n = 1024;
  folder.array("big.npy", "<f8", "(1024, 1024)", spd_elements(n));
  folder.array("right.npy", "<f8", "(1024,)", bytes_of(std::vector<double>(n, 1.0)));
  const auto before = folder.everything();
  const Shim shim;
  shim.plan().no_unnamed_files = true;
  for (const int signals : {1, 2}) {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    const pid_t run = folder.start(
        words + " --memory 6500KiB --tile 64 --workers 2 --disk-bandwidth 100KB/s --progress none", nothing,
        nothing, nothing, shim.environment());
    close(nothing);
    int status = 0;
    bool over = false;
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!over && partials(folder) < outputs && std::chrono::steady_clock::now() < end) {
      over = waitpid(run, &status, WNOHANG) == run;
      std::this_thread::sleep_for(1ms);
    }
    ASSERT_FALSE(over);
    ASSERT_EQ(partials(folder), outputs);
    for (int i = 0; i < signals; ++i) kill(run, signal);
    ASSERT_EQ(waitpid(run, &status, 0), run);
    ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status) << " of " << signals;
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    EXPECT_EQ(folder.everything(), before);
  }
}

class Signals : public testing::TestWithParam<int> {};

TEST_P(Signals, LeaveNothingIfFilesNeedNames) {
  expect_nothing_left("solve big.npy right.npy -o x.npy", 1, GetParam());
}

TEST_P(Signals, LeaveNothingOfSeveralOutputs) {
  expect_nothing_left("jdf run " JDF_EXAMPLES
                      "/gemm.jdf --matrix descA=big.npy --matrix descB=big.npy --matrix descC=big.npy "
                      "--set alpha=1 --set beta=1 -o descB=b.npy -o descC=c.npy",
                      2, GetParam());
}

INSTANTIATE_TEST_SUITE_P(FileFaults, Signals, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE),
                         [](const auto& signal) { return std::string(sigabbrev_np(signal.param)); });

TEST(FileFaults, ABitThatFlipsOnTheDiskEndsTheRun) {
  Folder folder;
  Shim shim;
  const auto flip = [&](std::uint64_t after, std::uint64_t bit) {
    shim.reset();
    shim.plan().operation = FileOperation::spill_read;
    shim.plan().effect = Effect::flip;
    shim.plan().number = bit;
    shim.plan().after = after;
    shim.plan().times = 1;
  };
  const std::string run = "bench cholesky --n 1024 --tile 64 --workers 2 --progress none ";
  constexpr std::pair<std::uint64_t, std::uint64_t> flips[] = {{4, 77}, {10, 262143}, {22, 100001}};
  for (const auto& [after, bit] : flips) {
    flip(after, bit);
    const Answer answer = folder.run(run, shim.environment());
    EXPECT_EQ(answer.exit_code, 1) << "bit " << bit << " of read " << after;
    EXPECT_THAT(answer.errors,
                AllOf(HasSubstr("A["), HasSubstr("came back from the disk otherwise than it was "
                                                 "written: its checksum is wrong at byte ")));
  }
  flip(1'000'000, 1);  // there are not as many
  const Answer without = folder.run(run + "--no-checksums", shim.environment());
  EXPECT_EQ(without.exit_code, 0) << without.errors;
}

#endif

TEST(FileFaults, AnOutputThatMayNotBeReplacedIsRefusedAtTheStart) {
  Folder folder;
  folder.file("x.npy", "old");
  const int file = open((folder.path() / "x.npy").c_str(), O_RDONLY | O_CLOEXEC);
  const auto mark = [&](int flags) { return ioctl(file, FS_IOC_SETFLAGS, &flags) == 0; };
  if (!mark(FS_IMMUTABLE_FL)) {
    close(file);
    GTEST_SKIP() << "marking a file as immutable takes root, and a file system that can";
  }
  expect_refused(folder, "solve A.npy b.npy -o x.npy", 1,
                 "x.npy: cannot be replaced: it is marked as immutable");
  EXPECT_TRUE(mark(FS_APPEND_FL));
  expect_refused(folder, "solve A.npy b.npy -o x.npy", 1, "x.npy: cannot be replaced: it, or its directory");
  EXPECT_TRUE(mark(0));
  close(file);
  EXPECT_EQ(folder.run("solve A.npy b.npy -o x.npy --progress none").exit_code, 0);
}

}  // namespace
}  // namespace fairlead::misuse
