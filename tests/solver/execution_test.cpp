// An execution records its phases and remarks, reports its progress, and ends early when another thread cancels it.
#include "solver/execution.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "little_memory.hpp"

namespace fairlead::solver {
namespace {

linalg::Kernels blas() { return linalg::Kernels::load(); }

/// Submits a task for each of `count` tiles.
void submit_tasks(Execution& run, const TiledMatrix<double>& a, int count) {
  const auto set = codelet("set").cpu([](Out<Tile<double>> tile) { tile(0, 0) = 1; });
  for (int i = 0; i < count; ++i) run.flow().submit(set(a(i, 0)));
}

TEST(Execution, RecordsPhases) {
  Execution run(tests::in_little_memory(), 0, blas());
  const auto a = run.runtime().tiled<double>("A", 64, 16, 16);
  EXPECT_EQ(run.give_up(), 0);
  run.begin("first", 2);
  submit_tasks(run, a, 2);
  const double seconds = run.end();
  run.begin("second");
  submit_tasks(run, a, 4);
  run.end_uncounted();
  run.begin("third");
  run.give_up();
  ASSERT_EQ(run.phases().size(), 3u);
  EXPECT_EQ(run.phases()[0].name, "first");
  EXPECT_EQ(run.phases()[0].seconds, seconds);
  EXPECT_TRUE(run.phases()[0].counts);
  EXPECT_FALSE(run.phases()[1].counts);
  EXPECT_EQ(run.phases()[2].name, "third (given up)");
  EXPECT_TRUE(run.phases()[2].counts);
}

TEST(Execution, ReportsTheProgressOfAPhase) {
  Execution run(tests::in_little_memory(), 0, blas());
  const auto a = run.runtime().tiled<double>("A", 64, 16, 16);
  run.begin("first", 2);
  submit_tasks(run, a, 2);
  run.end();
  run.begin("second", 4, 1e6);
  submit_tasks(run, a, 3);
  run.wait();
  const report::ProgressSnapshot progress = run.progress();
  EXPECT_EQ(progress.phase, "second");
  EXPECT_EQ(progress.tasks_done, 3u);
  EXPECT_EQ(progress.tasks_total, 4u);
  EXPECT_EQ(progress.flops_total, 1e6);
  run.end();
}

/// The factor of a definite matrix, in column-major memory.
std::vector<double> factored_as(Front front) {
  constexpr int n = 100, tile = 16, tiles = 7;
  std::vector<double> elements(n * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      elements[static_cast<std::size_t>(i + j * n)] = i == j ? n : 1.0 / (i + j + 1);
  Execution run(tests::in_little_memory(), 0, blas(), front);
  const auto a = run.runtime().tiled_in_place<double>("A", elements.data(), n, n, n, tile);
  const linalg::Kernels kernels = blas();
  run.begin("factorization", linalg::cholesky_tasks(tiles));
  run.compute([&](auto& chosen) { linalg::cholesky(chosen, kernels, a); });
  run.wait();
  EXPECT_EQ(run.progress().tasks_done, linalg::cholesky_tasks(tiles));
  run.end(true);
  return elements;
}

TEST(Execution, ComputesByAFlowOrAGraph) { EXPECT_EQ(factored_as(Front::flow), factored_as(Front::ptg)); }

struct Cancelled {};

/// Ends with Cancelled after stop().
class Stoppable final : public Execution {
 public:
  using Execution::Execution;
  void stop() {
    stopped_ = true;
    cancel();
  }
  const std::vector<std::string>& shown() const { return shown_; }

 private:
  void throw_if_cancelled() const override {
    if (stopped_) throw Cancelled{};
  }
  void show_warning(const std::string& text) override { shown_.push_back(text); }

  std::atomic<bool> stopped_ = false;
  std::vector<std::string> shown_;
};

TEST(Execution, EndsWhenAnotherThreadCancelsIt) {
  Stoppable run(tests::in_little_memory(), 0, blas());
  const auto a = run.runtime().tiled<double>("A", 16, 16, 16);
  std::atomic<bool> started = false, may_end = false;
  const auto wait_long = codelet("wait").cpu([&](Out<Tile<double>>) {
    started = true;
    while (!may_end) std::this_thread::yield();
  });
  run.begin("long");
  for (int i = 0; i < 10; ++i) run.flow().submit(wait_long(a(0, 0)));
  std::thread other([&] {
    while (!started) std::this_thread::yield();
    run.stop();
    may_end = true;
  });
  EXPECT_THROW(run.end(), Cancelled);
  other.join();
  EXPECT_THROW(run.begin("next"), Cancelled);
}

TEST(Execution, KeepsAndShowsWarnings) {
  Stoppable run(tests::in_little_memory(), 0, blas());
  run.warn("one");
  run.warn("two");
  EXPECT_EQ(run.warnings(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(run.shown(), run.warnings());
}

}  // namespace
}  // namespace fairlead::solver
