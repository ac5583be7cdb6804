// The keys and types that scripts rely on.
#include <gtest/gtest.h>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "report/example.hpp"
#include "report/run_report.hpp"

namespace fairlead::report {

namespace {

using Read = nlohmann::json;

Read read_back(const RunReport& report) { return Read::parse(json(report).text()); }

}  // namespace

TEST(ReportJson, HasTheKeysThatScriptsReadWithTheirTypes) {
  const Read all = read_back(example());
  for (const char* key : {"n",
                          "tile",
                          "tiles",
                          "workers",
                          "tasks",
                          "evictions",
                          "memory_limit_bytes",
                          "bytes_read",
                          "bytes_written",
                          "kernel_bytes_read",
                          "kernel_bytes_written",
                          "lower_bound_bytes",
                          "compulsory_bytes",
                          "floor_read_bytes",
                          "floor_bytes",
                          "peak_memory_bytes",
                          "peak_resident_bytes",
                          "outside_limit_bytes",
                          "mapped_file_bytes",
                          "heap_bytes",
                          "input_bytes",
                          "input_bytes_read"})
    EXPECT_TRUE(all.at(key).is_number_unsigned()) << key;
  for (const char* key : {"seconds", "gflops", "backward_error", "gemm_peak_gflops", "gemm_peak_percent",
                          "ceiling_gflops", "ceiling_percent", "compute_bound_seconds",
                          "critical_path_seconds", "disk_cap_bytes_per_second", "counted_seconds"})
    EXPECT_TRUE(all.at(key).is_number_float()) << key;
  for (const char* key : {"operation", "version", "date", "machine", "element", "scheduler", "front",
                          "kernels", "spill_directory", "factor_digest", "command_digest"})
    EXPECT_TRUE(all.at(key).is_string()) << key;
  for (const char* key : {"phases", "links", "nodes", "worker_times"})
    EXPECT_TRUE(all.at(key).is_array()) << key;
  for (const char* key : {"tile_gflops", "kernel_calls", "limited_by"})
    EXPECT_TRUE(all.at(key).is_object()) << key;
  EXPECT_EQ(all.size(), 22u + 11u + 11u + 4u + 3u);
}

TEST(ReportJson, HasNoBoundsIfAllDataWereGeneratedAndFit) {
  RunReport report = example();
  report.bytes_read = report.bytes_written = 0;
  const Read all = read_back(report);
  for (const char* key : {"lower_bound_bytes", "compulsory_bytes", "floor_read_bytes", "floor_bytes"})
    EXPECT_FALSE(all.contains(key)) << key;
}

TEST(ReportJson, AgreesWithTheReport) {
  const Read all = read_back(example());
  EXPECT_EQ(all.at("n"), 16384);
  EXPECT_EQ(all.at("tile"), 512);
  EXPECT_EQ(all.at("tiles"), 32);
  EXPECT_EQ(all.at("scheduler"), "darts");
  EXPECT_EQ(all.at("backward_error"), 3.21e-16);
  EXPECT_EQ(all.at("floor_bytes").get<Bytes>(), example().bounds->floor());
  EXPECT_EQ(all.at("floor_read_bytes").get<Bytes>(), example().bounds->floor_read());
  EXPECT_EQ(all.at("lower_bound_bytes").get<Bytes>(), example().bounds->lower_bound());
  EXPECT_NEAR(all.at("ceiling_percent").get<double>(), 100 * 170.5 / 174, 1e-9);
  EXPECT_NEAR(all.at("gemm_peak_percent").get<double>(), 100 * 170.5 / 180, 1e-9);
  EXPECT_EQ(all.at("tile_gflops"), (Read{{"gemm", 90.0}, {"syrk", 71.0}, {"trsm", 61.0}, {"potrf", 55.0}}));
  EXPECT_EQ(all.at("kernel_calls").at("gemm"), (Read{{"calls", 4960}, {"gflop", 1331.4}}));
  EXPECT_EQ(all.at("factor_digest"), "0000000000001234");
  EXPECT_EQ(all.at("command_digest"), "fedcba9876543210");
  EXPECT_EQ(all.at("phases")[2], (Read{{"name", "solve"}, {"seconds", 0.412}, {"counted", true}}));
  EXPECT_EQ(all.at("worker_times")[1].at("waiting_for_data_seconds"), 0.45);
  EXPECT_EQ(all.at("nodes")[0],
            (Read{{"name", "RAM"}, {"capacity_bytes", 250'000'000}, {"peak_bytes", 249'500'000}}));
}

TEST(ReportJson, EveryByteOnALinkHasDirectionAndCause) {
  const Read link = read_back(example()).at("links")[0];
  EXPECT_EQ(link.at("name"), "disk");
  EXPECT_EQ(link.at("from_home").at("prefetch"), (Read{{"bytes", 2'600'000'000}, {"copies", 1300}}));
  EXPECT_EQ(link.at("to_home").at("eviction").at("bytes"), 1'100'000'000);
  for (const char* direction : {"from_home", "to_home"})
    for (const char* cause : {"demand", "prefetch", "eviction", "flush"})
      EXPECT_TRUE(link.at(direction).at(cause).at("bytes").is_number_unsigned()) << direction << ' ' << cause;
}

TEST(ReportJson, UnknownValuesHaveNoKey) {
  RunReport report = example();
  report.backward_error.reset();
  report.bounds.reset();
  report.ceiling.reset();
  report.ceiling_gflops.reset();
  report.gemm_peak_gflops.reset();
  report.peak_resident_bytes.reset();
  report.resident_parts.reset();
  report.kernel_bytes_read.reset();
  report.kernel_bytes_written.reset();
  report.spill_directory.reset();
  report.disk_cap_bytes_per_second.reset();
  report.operation = report.version = report.date = report.machine = "";
  const Read all = read_back(report);
  for (const char* key : {"backward_error",
                          "lower_bound_bytes",
                          "compulsory_bytes",
                          "floor_read_bytes",
                          "floor_bytes",
                          "ceiling_gflops",
                          "ceiling_percent",
                          "compute_bound_seconds",
                          "critical_path_seconds",
                          "gemm_peak_gflops",
                          "gemm_peak_percent",
                          "peak_resident_bytes",
                          "outside_limit_bytes",
                          "mapped_file_bytes",
                          "heap_bytes",
                          "kernel_bytes_read",
                          "kernel_bytes_written",
                          "spill_directory",
                          "disk_cap_bytes_per_second",
                          "operation",
                          "version",
                          "date",
                          "machine"})
    EXPECT_FALSE(all.contains(key)) << key;
  EXPECT_FALSE(all.at("nodes")[1].contains("capacity_bytes"));
  EXPECT_TRUE(all.contains("seconds"));
}

TEST(ReportJson, ReportsTheAccuracyOfTheSolution) {
  RunReport report = example();
  report.backward_error_limit = 8.9e-15;
  report.condition =
      ConditionReport{.number = 1.2e6, .forward_error = 3.4e-9, .digits = 8, .seconds = 0.25, .sweeps = 4};
  const Read all = read_back(report);
  EXPECT_EQ(all.at("backward_error_limit"), 8.9e-15);
  EXPECT_EQ(all.at("condition_estimate"), 1.2e6);
  EXPECT_EQ(all.at("forward_error_bound"), 3.4e-9);
  EXPECT_EQ(all.at("trusted_digits"), 8);
  EXPECT_EQ(all.at("condition_seconds"), 0.25);
  EXPECT_EQ(all.at("condition_sweeps"), 4);
  // An infinite condition number: JSON has no infinity.
  report.condition->number = HUGE_VAL;
  EXPECT_TRUE(read_back(report).at("condition_estimate").is_null());
}

TEST(ReportJson, ReportsTheNumericalRankAndTheExcessOfTheResidual) {
  RunReport report = example();
  EXPECT_FALSE(read_back(report).contains("numerical_rank"));
  report.numerical_rank = NumericalRank{.rank = 5, .columns = 5, .tolerance = 1e-15};
  report.residual = LeastSquaresResidual{.relative = 0.25, .excess = 1e-16};
  const Read bounded = read_back(report);
  EXPECT_EQ(bounded.at("numerical_rank"), 5);
  EXPECT_EQ(bounded.at("rank_tolerance"), 1e-15);
  EXPECT_EQ(bounded.at("relative_residual"), 0.25);
  EXPECT_EQ(bounded.at("residual_excess_bound"), 1e-16);
  EXPECT_FALSE(bounded.contains("largest_singular_value"));
  EXPECT_EQ(text_of(*report.residual, false), "|| b - A x || is 0.25 of || b ||, and could not be less");
  EXPECT_EQ(text_of({.relative = 0.25, .excess = 0.1}, false),
            "|| b - A x || is 0.25 of || b ||, and could be less by 1.0e-01 at most");
  report.numerical_rank->rank = 3;
  report.numerical_rank->values = NumericalRank::SingularValues{8, 2, 1e-17};
  const Read reduced = read_back(report);
  EXPECT_EQ(reduced.at("numerical_rank"), 3);
  EXPECT_EQ(reduced.at("largest_singular_value"), 8);
  EXPECT_EQ(reduced.at("smallest_singular_value"), 2);
  EXPECT_EQ(reduced.at("dropped_singular_value"), 1e-17);
  EXPECT_EQ(text_of(*report.numerical_rank),
            "3 of 5 columns are independent at a tolerance of 1.0e-15 (singular values 8 to 2, then at most "
            "1.0e-17); "
            "of all nearest x it is the smallest");
  EXPECT_EQ(text_of(*report.residual, true),
            "|| b - A x || is 0.25 of || b ||, and could not be less with a matrix of that rank");
}

}  // namespace fairlead::report
