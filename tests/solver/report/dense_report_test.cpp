// The report of an operation counts what happened between two moments, on one rank and on all ranks together.
#include "solver/report/dense_report.hpp"

#include <fairlead/linalg.hpp>
#include <fairlead/ranks.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "front/runtime/runtime_access.hpp"
#include "little_memory.hpp"
#include "solver/report/ranks_report.hpp"

namespace fairlead::solver {
namespace {

constexpr std::int64_t n = 192;
constexpr std::int32_t tile = 16;
constexpr std::uint64_t tiles = 12, tasks = tiles * (tiles + 1) * (tiles + 2) / 6;

DenseProblem problem_in(Bytes memory) {
  return {.operation = &cholesky_operation,
          .title = "Cholesky factorization",
          .n = n,
          .tile = tile,
          .memory_limit = memory,
          .reserved = 1000};
}

void fill(Flow& flow, const TiledMatrix<double>& a) {
  linalg::fill<double>(flow, std::make_shared<linalg::GeneratedSpd<double>>(n, 1), a, Tiles::lower);
}

/// Factors a matrix; the counters from after it was filled.
report::RunReport reported(const Config& config, Bytes memory, bool flushed) {
  const linalg::Kernels kernels = linalg::Kernels::load();
  Runtime runtime(config);
  Flow flow(runtime);
  const auto a = runtime.tiled<double>("A", n, n, tile, Tiles::lower);
  fill(flow, a);
  flow.wait();
  if (flushed) runtime.flush();
  const RunCounters before = counters_of(runtime, kernels);
  linalg::cholesky(flow, kernels, a);
  flow.wait();
  if (flushed) runtime.flush();
  const RunCounters after = counters_of(runtime, kernels);
  report::RunReport report = report_between(before, after, config, kernels, problem_in(memory));
  report.seconds = report.counted_seconds;
  find_limit(report, before, after);
  return report;
}

TEST(DenseReport, CountsTheTasksAndTheirKernels) {
  Config config = tests::in_little_memory();
  config.set("workers", 2);
  const report::RunReport report = reported(config, config.bytes("memory"), false);
  EXPECT_EQ(report.tasks, tasks);
  EXPECT_EQ(report.n, static_cast<std::uint64_t>(n));
  EXPECT_FALSE(report.m);
  EXPECT_EQ(report.tiles, tiles);
  EXPECT_EQ(report.workers, 2U);
  ASSERT_EQ(report.worker_times.size(), 2U);
  EXPECT_EQ(report.worker_times[0].tasks + report.worker_times[1].tasks, tasks);
  std::uint64_t calls = 0;
  double gflop = 0;
  for (const report::KernelReport& kernel : report.kernel_calls) calls += kernel.calls, gflop += kernel.gflop;
  EXPECT_EQ(calls, tasks);
  EXPECT_NEAR(gflop, 1e-9 * n * n * n / 3, 1e-9 * n * n * 2);
  EXPECT_EQ(report.bytes_read, 0U);
  EXPECT_EQ(report.bytes_written, 0U);
  EXPECT_GE(report.peak_memory_bytes, n * (n + tile) / 2 * 8U + 1000);
  EXPECT_TRUE(report.bounds->fits);
  EXPECT_TRUE(report.limiting);
  EXPECT_FALSE(report.machine.empty());
}

TEST(DenseReport, CountsTheBytesOfTheSpillFile) {
  Config config = tests::in_little_memory();
  config.set("memory", Bytes{64} << 10);
  config.set("workers", 1);
  config.set("scheduler", "eager");
  const report::RunReport report = reported(config, config.bytes("memory"), true);
  const Bytes matrix = n * (n + tile) / 2 * 8;
  EXPECT_GE(report.bytes_written, matrix) << "each tile of the factor at least once";
  EXPECT_GE(report.bytes_read + config.bytes("memory"), report.bounds->lower_bound())
      << "what a bound proves, less what was in memory";
  EXPECT_GT(report.evictions, 0U);
}

TEST(DenseReport, TheCeilingComesFromTheRatesOfTheKernels) {
  const linalg::Kernels kernels = linalg::Kernels::load();
  report::RunReport report;
  report.workers = 1;
  measure_ceiling(report, kernels, problem_in(Bytes{16} << 20));
  ASSERT_TRUE(report.tile_rates && report.ceiling && report.ceiling_gflops);
  EXPECT_GT(report.tile_rates->gemm, 0);
  EXPECT_GT(*report.ceiling_gflops, 0);
  EXPECT_LE(*report.ceiling_gflops, 1.01 * *report.gemm_peak_gflops);
}

TEST(RanksReport, SumsTheCountsOfAllRanks) {
  constexpr std::uint32_t ranks = 2;
  const std::vector<Rank> places = ranks_in_process(ranks);
  std::vector<report::RunReport> reports(ranks);
  const auto run = [&](std::uint32_t i) {
    const GridRank place{.rank = places[i], .grid = {.rank_rows = 1, .rank_columns = 2}, .readers = ranks};
    const linalg::Kernels kernels = linalg::Kernels::load();
    Config config = tests::in_little_memory();
    config.set("workers", 1);
    Runtime runtime(config, place.rank);
    Flow flow(runtime);
    const auto a = place.tiled<double>(runtime, "A", n, n, tile, Tiles::lower);
    fill(flow, a);
    flow.wait();
    const RunCounters before = counters_of(runtime, kernels);
    linalg::cholesky(flow, kernels, a);
    flow.wait();
    const RunCounters after = counters_of(runtime, kernels);
    reports[i] = report_between(before, after, config, kernels, problem_in(config.bytes("memory")));
    reports[i].seconds = i + 1;
    combine_ranks(reports[i], runtime, place, before, after, 1000, front::recorded_by(runtime));
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  for (const report::RunReport& report : reports) {
    EXPECT_EQ(report.tasks, tasks);
    EXPECT_EQ(report.seconds, 2) << "of the slowest rank";
    EXPECT_EQ(report.grid, "1 x 2");
    EXPECT_FALSE(report.bounds) << "it is for one memory";
    ASSERT_EQ(report.ranks.size(), ranks);
    EXPECT_EQ(report.ranks[0].tasks + report.ranks[1].tasks, tasks);
    for (const report::RankReport& rank : report.ranks) {
      EXPECT_GT(rank.tasks, 0U);
      EXPECT_GT(rank.payloads, 0U);
      EXPECT_EQ(rank.payload_bytes, rank.payloads * tile * tile * 8);
    }
  }
}

}  // namespace
}  // namespace fairlead::solver
