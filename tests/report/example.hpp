// A made-up run with all values known.
#pragma once
#include "report/run_report.hpp"

namespace fairlead::report {

inline constexpr auto demand = static_cast<std::size_t>(memory::Cause::demand);
inline constexpr auto prefetch = static_cast<std::size_t>(memory::Cause::prefetch);
inline constexpr auto eviction = static_cast<std::size_t>(memory::Cause::eviction);
inline constexpr auto flush = static_cast<std::size_t>(memory::Cause::flush);

inline RunReport example() {
  RunReport report;
  report.operation = "Cholesky solve";
  report.version = "0.1.0";
  report.date = "2026-11-20 09:12 UTC";
  report.machine = "2 cores of AMD EPYC 9555, 24 GiB";
  report.n = 16384;
  report.element = "FP64";
  report.tile = 512;
  report.tiles = 32;
  report.workers = 2;
  report.scheduler = "darts";
  report.front = "flow";
  report.kernels = "OpenBLAS 0.3.21 for SkylakeX";
  report.memory_limit_bytes = quarter_of_triangle(16384, 8);
  report.spill_directory = "/data";
  report.disk_cap_bytes_per_second = 250e6;
  report.seconds = 8.6;
  report.gflops = 170.5;
  report.of = "A.npy x = b.npy";
  report.solution = "x.npy";
  report.phases = {
      {"reading", 0.82}, {"factorization", 7.368}, {"solve", 0.412}, {"error check", 1.31, false}};
  report.backward_error = 3.21e-16;
  report.tasks = 6545;
  report.evictions = 1234;
  report.kernel_calls = {{"gemm", 4960, 1331.4}, {"potrf", 32, 1.4}};
  report.gemm_peak_gflops = 180;
  report.ceiling = Ceiling{.compute_seconds = 8.43, .critical_path_seconds = 0.312};
  report.ceiling_gflops = 174;
  report.tile_rates = TileRates{.gemm = 90, .syrk = 71, .trsm = 61, .potrf = 55};
  report.bytes_read = 3'000'000'000;
  report.bytes_written = 1'200'000'000;
  report.kernel_bytes_read = 3'010'000'000;
  report.kernel_bytes_written = 1'201'000'000;
  report.bounds = cholesky_bounds(16384, 8, report.memory_limit_bytes);
  LinkReport disk{.name = "disk"};
  disk.from_home[demand] = {400'000'000, 200};
  disk.from_home[prefetch] = {2'600'000'000, 1300};
  disk.to_home[eviction] = {1'100'000'000, 550};
  disk.to_home[flush] = {100'000'000, 50};
  report.peak_memory_bytes = 268'000'000;
  report.peak_resident_bytes = 331'350'016;
  report.resident_parts = {18'350'080, 3'145'728};
  report.nodes = {{"RAM", 250'000'000, 249'500'000}, {"disk", {}, 1'107'296'256}};
  disk.busy_seconds = 4.1;
  report.links = {disk};
  report.counted_seconds = 8.6;
  report.worker_times = {{8.1, 0.3, 0.2, 3300, false, 8.0, 0.05}, {8.05, 0.45, 0.1, 3245, false, 7.9, 0.1}};
  report.limiting = limiting(measured(report.worker_times, 8.6, report.links));
  report.input_bytes = report.input_bytes_read = 2'147'483'648;
  report.factor_digest = 0x1234;
  report.command_digest = 0xfedc'ba98'7654'3210;
  return report;
}

}  // namespace fairlead::report
