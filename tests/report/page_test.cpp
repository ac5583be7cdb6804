// The exact text of the report.
#include "report/run_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cctype>
#include <sstream>

#include "report/example.hpp"

namespace fairlead::report {

using testing::HasSubstr;
using testing::Not;

namespace {

std::size_t widest_line(const std::string& page) {
  std::istringstream lines(page);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

}  // namespace

TEST(ReportPage, HasThisText) {
  EXPECT_EQ(text(example()), R"(Fairlead        0.1.0   Cholesky solve   2026-11-20 09:12 UTC
                2 cores of AMD EPYC 9555, 24 GiB

Problem         n = 16,384, FP64, 32 x 32 tiles of 512
Setting         2 workers, scheduler darts, kernels OpenBLAS 0.3.21 for SkylakeX
                memory limit 256 MiB, spill file in /data, disk capped at 250 MB/s

Time            8.60 s: reading 820 ms, factorization 7.37 s, solve 412 ms; also error check 1.31 s
Limited by      computing: workers computed for 94 % of the time
Speed           170.5 GFlop/s
                95 % of GEMM peak, 180.0 (measured, every worker multiplying tiles)
                98 % of the tiled ceiling, 174.0 (bound: these kernels, a perfect schedule)
                bounds in time: 8.43 s of computing on all workers, 312 ms along the critical path
Backward error  3.21e-16
Tasks           6,545, with 1,234 evictions from memory
Kernels         gemm 4,960 (99.9 % of the operations), potrf 32 (0.11 % of the operations)

Disk                                          read     written        both
                measured                   3.00 GB     1.20 GB     4.20 GB
                by the kernel's count      3.01 GB     1.20 GB     4.21 GB
                floor                      2.51 GB     1.07 GB     3.58 GB   bound + each byte once
                measured / floor            x 1.20      x 1.12      x 1.17
                lower bound                1.43 GB                           proved, leading term
                measured / bound            x 2.10

Links                                      demand   prefetch   eviction      flush        copies
                disk         from home     400 MB    2.60 GB          -          -         1,500
                             to home            -          -    1.10 GB     100 MB           600

Memory                                        peak            of
                RAM                        238 MiB       238 MiB  99.8 %
                disk                       1.0 GiB
                under the limit            256 MiB       256 MiB  99.8 %   measured by Fairlead
                outside it                60.4 MiB                         the rest of the process
                  code, libraries         17.5 MiB
                  from malloc              3.0 MiB                         at the end
                process                    316 MiB                         measured by the kernel

Workers                       computed waiting for data   without a task         CPU time      tasks
                0        8.10 s   94 %    300 ms  3.5 %    200 ms  2.3 %    8.00 s   93 %      3,300
                1        8.05 s   94 %    450 ms  5.2 %    100 ms  1.2 %    7.90 s   92 %      3,245
)");
}

TEST(ReportSummary, HasThisText) {
  EXPECT_EQ(summary(example()),
            R"(Solved          A.npy x = b.npy: Cholesky solve, n = 16,384 in double precision
With            2 workers, 256 MiB of memory at most, 256 MiB used, tiles of 512, scheduler darts
Accuracy        backward error 3.2e-16: x is exact for numbers that differ from yours by that part
Time            8.60 s: reading 820 ms, factorization 7.37 s, solve 412 ms; also error check 1.31 s
Speed           170.5 GFlop/s, 98 % of what these kernels allow, 174.0
Limited by      computing: workers computed for 94 % of the time
Disk            3.00 GB read, 1.20 GB written; 1.17 times the least that is known to suffice
Solution        x.npy
)");
}

TEST(ReportSummary, ReportsRepeatedReadsOfTheMatrix) {
  RunReport report = example();
  report.input_bytes_read = 4 * report.input_bytes;
  report.refinement_steps = 3;
  EXPECT_THAT(summary(report), HasSubstr("8.59 GB read from the matrix's file of 2.15 GB"));
  EXPECT_THAT(summary(report), HasSubstr("(3 steps of refinement)"));
}

TEST(ReportSummary, ReportsThatNothingMoved) {
  RunReport report = example();
  report.bytes_read = report.bytes_written = 0;
  EXPECT_THAT(summary(report), HasSubstr("\nDisk            nothing: all of it fitted in memory\n"));
}

// Most machines have no device: the summary reports only what the reader may want to change.
TEST(ReportSummary, OmitsDevicesOnAMachineWithoutThem) {
  RunReport report = example();
  for (const std::string_view none : {no_devices_there, no_devices_looked_for}) {
    report.devices = std::string(none) + ": no CUDA driver is installed, and OpenCL has no GPU";
    EXPECT_THAT(summary(report), Not(HasSubstr("Devices")));
    EXPECT_THAT(text(report), HasSubstr(std::string(none) + ": no CUDA driver"));
  }
  report.devices = "none: cuda:0: has 1.0 GiB left";
  EXPECT_THAT(summary(report), HasSubstr("Devices         none: cuda:0: has 1.0 GiB left"));
}

// If memory holds nearly all data, a run transfers less than the bound, which is a formula.
TEST(ReportSummary, OmitsTheRatioToABoundAboveTheMeasuredBytes) {
  RunReport report = example();
  report.bytes_read = report.bytes_written = 1 << 20;
  EXPECT_THAT(summary(report), HasSubstr("1.05 MB read, 1.05 MB written\n"));
}

TEST(ReportPage, IsAtMostAHundredColumnsWide) {
  EXPECT_LE(widest_line(text(example())), 100u);
  EXPECT_LE(widest_line(summary(example())), 100u);
}

TEST(ReportPage, OfAHugeRunIsNoWider) {
  RunReport huge = example();
  huge.n = 10'000'000;
  huge.tiles = 100'000;
  huge.tile = 102'400;
  huge.tasks = 166'671'666'700'000;
  huge.evictions = 99'999'999'999;
  huge.bytes_read = huge.bytes_written = 999'000'000'000'000'000;
  huge.memory_limit_bytes = Bytes(1023) << 40;
  huge.peak_memory_bytes = Bytes(1022) << 40;
  huge.bounds = cholesky_bounds(huge.n, 8, huge.memory_limit_bytes);
  huge.seconds = 3e6;
  huge.gflops = 1e8;
  huge.gemm_peak_gflops = huge.ceiling_gflops = 1.1e8;
  huge.worker_times.assign(512, {2.9e6, 5e4, 5e4, 325'000'000});
  huge.phases.assign(20, {"a phase of the run", 1e5});
  huge.limiting = LimitingFactor{.limit = Limit::link, .link = "device 17 - device 18", .link_busy = 0.5};
  EXPECT_LE(widest_line(text(huge)), 100u) << text(huge);
  EXPECT_LE(widest_line(summary(huge)), 100u) << summary(huge);
}

TEST(ReportPage, WithoutTransfersThereIsNoComparison) {
  RunReport report = example();
  report.bytes_read = report.bytes_written = 0;
  EXPECT_THAT(text(report), Not(HasSubstr("floor")));
}

TEST(ReportPage, ManyWorkersAreOneMeanAndTheTwoEnds) {
  RunReport report = example();
  report.worker_times.assign(9, {5, 3, 2, 100});
  report.worker_times[3].busy_seconds = 1;
  report.worker_times[7].busy_seconds = 9;
  const std::string page = text(report);
  EXPECT_THAT(page, HasSubstr("                mean     5.00 s"));
  EXPECT_THAT(page, HasSubstr("                3        1.00 s"));
  EXPECT_THAT(page, HasSubstr("                7        9.00 s"));
  EXPECT_THAT(page, HasSubstr("the mean of 9, the least busy, the busiest"));
  EXPECT_THAT(page, Not(HasSubstr("                5        5.00 s")));
}

TEST(ReportPage, OmitsWhatWasNotMeasured) {
  RunReport bare;
  bare.version = "0.1.0";
  bare.n = 100;
  bare.element = "FP64";
  bare.tile = 50;
  bare.tiles = 2;
  bare.workers = 1;
  bare.scheduler = "eager";
  bare.kernels = "OpenBLAS";
  bare.memory_limit_bytes = 1 << 20;
  bare.seconds = 0.5;
  bare.gflops = 2;
  bare.peak_memory_bytes = 1 << 19;
  EXPECT_EQ(text(bare), R"(Fairlead        0.1.0

Problem         n = 100, FP64, 2 x 2 tiles of 50
Setting         1 worker, scheduler eager, kernels OpenBLAS, memory limit 1.0 MiB

Time            500 ms
Speed           2.0 GFlop/s
Tasks           0, with 0 evictions from memory

Disk                                          read     written        both
                measured                       0 B         0 B         0 B

Memory                                        peak            of
                under the limit            512 KiB       1.0 MiB    50 %   measured by Fairlead
)");
}

TEST(ReportPage, ReportsThatEverythingFits) {
  RunReport report = example();
  report.memory_limit_bytes = Bytes(2) << 30;
  report.bounds = cholesky_bounds(16384, 8, report.memory_limit_bytes);
  EXPECT_THAT(text(report), HasSubstr("all fits: each once"));
  EXPECT_THAT(text(report), HasSubstr("each input once"));
}

TEST(ReportPage, ShowsTheAccuracyOfTheSolution) {
  RunReport report = example();
  report.condition =
      ConditionReport{.number = 1.2e6, .forward_error = 3.4e-9, .digits = 8, .seconds = 0.25, .sweeps = 4};
  EXPECT_THAT(text(report),
              HasSubstr("\nCondition       1.2e+06 in the infinity norm, estimated with 4 sweeps over the "
                        "factor in 250 ms\n"
                        "Forward error   at most 3.4e-09 of the largest component, which leaves 8 digits\n"));
  report.condition->sweeps = 0;
  report.condition->digits = 1;
  report.condition->columns = 3;
  EXPECT_THAT(text(report),
              HasSubstr("1.2e+06 in the infinity norm, estimated in the sweeps of the refinement\n"));
  EXPECT_THAT(text(report),
              HasSubstr("of the largest component in each column of x, which leaves 1 digit\n"));
  report.condition->digits = 0;
  EXPECT_THAT(text(report), HasSubstr("Forward error   no digit is certain\n"));
}

}  // namespace fairlead::report
