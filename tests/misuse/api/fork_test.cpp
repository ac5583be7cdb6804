// A child process has the memory of a runtime and none of its threads: all calls are refused, the destructor
// does nothing, and the parent continues.
#include "misuse/api/refused.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sanitized.hpp"

namespace fairlead::misuse {
namespace {

using testing::HasSubstr;

/// The exit code of a child that does this; -1 if it hangs and is ended by a signal.
int in_one_child(const std::function<int()>& what, unsigned limit_seconds) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(limit_seconds);
    _exit(what());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// ThreadSanitizer has its own locks: a child waits for ever if its parent's workers held one during the fork. So only one
/// of five children must end there.
int in_a_child(const std::function<int()>& what) {
  int result = -1;
  for (int left = tests::thread_sanitized ? 5 : 1; left != 0 && result == -1; --left)
    result = in_one_child(what, tests::thread_sanitized ? 8 : 20);
  return result;
}

bool refused_after_fork(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return std::string(error.what()).find("in a forked process") != std::string::npos;
  } catch (...) {
  }
  return false;
}

class Fork : public testing::Test {
 protected:
  void SetUp() override {
    runtime_ = std::make_unique<Runtime>(config());
    handle_ = runtime_->value("x", x_);
    matrix_.emplace(runtime_->tiled<double>("A", 512, 512, 64));  // twice the memory
    flow_.emplace(*runtime_);
    for (int i = 0; i < 64; ++i) flow_->submit(fill_tile((*matrix_)(i / 8, i % 8), 1.0 + i));
    for (int i = 0; i < 300; ++i) flow_->submit(increment(handle_));
  }
  virtual Config config() { return settings(2, "1MiB"); }
  /// The parent's runtime still works.
  void expect_parent_goes_on() {
    double sum = 0;
    const auto total = runtime_->value("sum", sum);
    const auto add = codelet("add").cpu(
        [](In<Tile<double>> t, InOut<double> to) { *to += t(0, 0) + t(t.rows() - 1, t.columns() - 1); });
    for (int i = 0; i < 64; ++i) flow_->submit(add((*matrix_)(i / 8, i % 8), total));
    flow_->wait();
    EXPECT_EQ(sum, 2 * (64 + 63 * 64 / 2));
    EXPECT_EQ(x_, 300);
  }
  std::unique_ptr<Runtime> runtime_;
  int x_ = 0;
  Handle<int> handle_;
  std::optional<TiledMatrix<double>> matrix_;
  std::optional<Flow> flow_;
};

TEST_F(Fork, AChildThatEntersTheRuntimeIsRefused) {
  const std::function<void()> calls[] = {
      [&] { flow_->submit(increment(handle_)); },
      [&] { flow_->wait(); },
      [&] { flow_->cancel(); },
      [&] { Flow another(*runtime_); },
      [&] { runtime_->flush(); },
      [&] { runtime_->drop_clean(); },
      [&] { (void)runtime_->tiled<double>("B", 64, 64, 32); },
      [&] { (void)runtime_->value("y", x_); },
      [&] { (void)runtime_->statistics(); },
      [&] { (void)runtime_->command_digest(); },
  };
#ifdef FAIRLEAD_THREAD_SANITIZED  // its records of busy threads are inconsistent in a child, which may wait for ever
  flow_->wait();
  constexpr int first = 1;
#else
  constexpr int first = 0;
#endif
  // While tasks run, and after all have finished.
  for (int round = first; round < 2; ++round) {
    const int wrong = in_a_child([&] {
      int number = 1;
      for (const auto& call : calls) {
        if (!refused_after_fork(call)) return number;
        ++number;
      }
      return 0;
    });
    EXPECT_EQ(wrong, 0) << "(which of the calls was not refused; -1: the child hung)";
    if (round == 0) flow_->wait();
  }
  expect_parent_goes_on();
}

TEST_F(Fork, InAChildTheEndOfARuntimeTouchesNeitherThreadsNorFiles) {
  const auto destroy_all = [&] {
    flow_.reset();
    matrix_.reset();
    runtime_.reset();
    return 0;
  };
  EXPECT_EQ(in_a_child(destroy_all), 0);
  EXPECT_EQ(in_a_child([&] {  // in reverse order
              runtime_.reset();
              matrix_.reset();
              flow_.reset();
              return 0;
            }),
            0);
  flow_->wait();
  EXPECT_EQ(in_a_child(destroy_all), 0);
  expect_parent_goes_on();
}

class ForkWithLog : public Fork {
 protected:
  Config config() override {
    Config config = Fork::config();
    config.set("event-log", path_);
    return config;
  }
  ~ForkWithLog() override { std::remove(path_.c_str()); }
  std::string path_ = testing::TempDir() + "fairlead-fork-" + std::to_string(getpid()) + ".log";
};

TEST_F(ForkWithLog, TheLogIsTheParents) {
  EXPECT_EQ(in_a_child([&] {
              flow_.reset();
              matrix_.reset();
              runtime_.reset();
              return std::filesystem::exists(path_) ? 1 : 0;
            }),
            0);
  expect_parent_goes_on();
  flow_.reset();
  matrix_.reset();
  runtime_.reset();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

// A child that does not use its parent's runtimes may have its own.
TEST(ForkBefore, AChildMayHaveARuntimeOfItsOwn) {
  if (tests::thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer allows no threads in a child of a process that had some";
  EXPECT_EQ(in_a_child([] {
              Runtime runtime(settings());
              expect_works(runtime);
              return testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

}  // namespace
}  // namespace fairlead::misuse
