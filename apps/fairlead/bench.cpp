// fairlead bench cholesky|...|gemm: generated matrices, computed with out of core or in core against the clock, and a
// check of the result.
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/linalg/backward_error.hpp"
#include "fairlead/run/distinct_files.hpp"
#include "fairlead/run/kernels_and_devices.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/run/run_options.hpp"
#include "fairlead/run/watched_run.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine.hpp"
#include "solver/benchmark/benchmark.hpp"
#include "solver/grid_rank.hpp"
#include "solver/report/ranks_report.hpp"
#include "solver/trust.hpp"

namespace fairlead::app {

using solver::Benchmark;
using solver::cholesky_operation;
using solver::counters_of;
using solver::DenseOperation;
using solver::DenseProblem;
using solver::find_operation;
using solver::qr_operation;
using solver::RunCounters;
using solver::wrong_answer;

namespace {

constexpr double tf32_roundings = 8192;            // of single precision in one of TF32: 13 bits
constexpr Bytes least_for_tiles = Bytes{4} << 20;  // where a part of the matrix is less: tiny ones

// To which the tables below refer.
const std::string what_to_run = "what to run: " + solver::keys_of_operations(" or ");
const std::string summary =
    "Runs a benchmark on generated matrices, out of core: " + solver::keys_of_operations(" or ") + ".";
const std::string of_what = fmt::format(
    "memory limit without --memory, as a fraction of the triangle ({}), the three matrices (gemm) or the "
    "matrix",
    solver::keys_of_operations(", ", [](const DenseOperation& one) { return one.tiles == Tiles::lower; }));

const Positional positionals[] = {{.name = "WHAT", .help = what_to_run}};
const auto options =
    both(std::to_array<Setting>(
             {{.key = "n",
               .type = SettingType::count,
               .default_value = "16384",
               .minimum = "1",
               .maximum = "10000000",
               .help = "rows and columns of the matrices"},
              {.key = "m",
               .type = SettingType::count,
               .minimum = "1",
               .maximum = "10000000",
               .help = "for qr: rows of the matrix, at least n",
               .default_shown = "n",
               .advanced = true},
              {.key = "tree",
               .type = SettingType::choice,
               .choices = "flat|binary",
               .help = "for qr: eliminate the tiles of a column one after the other (flat) or in pairs "
                       "(binary); binary suits tall matrices on many workers",
               .default_shown = "flat",
               .advanced = true},
              {.key = "precision",
               .type = SettingType::choice,
               .default_value = "double",
               .choices = "double|single|tf32",
               .help = "type of the elements; tf32 (cholesky only): single, with the factorization's "
                       "products in TF32 on CUDA devices"},
              {.key = "memory-fraction",
               .type = SettingType::real,
               .default_value = "0.25",
               .minimum = "0.001",
               .maximum = "1000",
               .help = of_what},
              advanced_flag("digest", "add a digest of the result's bits to the JSON")}),
         both(both(front_options_with_jdf, rank_options), report_options));

struct Measured {
  report::RunReport report;
  std::vector<trace::Snapshot> recorded;
};

/// On one rank or as one of several.
template <class T>
Measured measure(WatchedRun& run, const Config& config, DenseProblem problem, const linalg::Kernels& kernels,
                 Benchmark<T>& benchmark, const GridRank& place) {
  const DenseOperation& operation = *problem.operation;
  Runtime& runtime = run.runtime();
  settle_tile(runtime, problem);
  benchmark.begin(run, place, problem);
  const bool in_core = problem.fits();

  run.begin("generation", benchmark.generation_tasks());
  benchmark.generate(run.flow());
  run.end_uncounted(!in_core);
  if (!in_core) runtime.drop_clean();
  if (!place.alone()) gather(runtime, std::array{0.0});  // all ranks start together

  const RunCounters before = counters_of(runtime, kernels);
  const double flops = operation.flops(problem);
  run.begin(operation.matrices == 1 ? "factorization" : "product", operation.tasks(problem), flops);
  benchmark.compute();
  const double seconds = run.end(!in_core);
  const RunCounters after = counters_of(runtime, kernels);

  std::optional<std::uint64_t> digest;
  if (config.flag("digest")) digest = benchmark.digest();
  const double error = benchmark.check();
  run.remove_progress();

  report::RunReport report = report_between(before, after, config, kernels, problem);
  report.front = name_of(run.front());
  report.seconds = seconds;
  report.phases = run.phases();
  if (place.alone()) find_limit(report, before, after);
  report.backward_error = error;
  report.growth = benchmark.growth();
  report.refinement_steps = benchmark.refinement_steps();
  report.backward_error_limit =
      linalg::max_correct_backward_error<T>(problem.rows()) * (problem.in_tf32 ? tf32_roundings : 1);
  if (problem.in_tf32) report.calls_in_tf32 = benchmark.calls_in_tf32();
  report.factor_digest = digest;
  if (place.alone()) {
    // Every event was processed: no more commands follow.
    in_core ? runtime.drop_clean() : runtime.flush();
    report.command_digest = runtime.command_digest().value;
  }
  std::vector<trace::Snapshot> recorded = run.collect_traces();
  combine_ranks(report, runtime, place, before, after, problem.reserved, recorded.front());
  report.gflops = flops / report.seconds * 1e-9;
  benchmark.end();
  report.not_written = run.end_records();
  return {std::move(report), std::move(recorded)};
}

template <class T>
int bench_dense(CommandRanks& ranks, Config config, const DenseOperation& operation) {
  if (config.has("checkpoint"))
    throw ConfigError("--checkpoint is for solve, factor and logdet, not for bench");
  require_distinct_files(config);
  const auto n = static_cast<std::int64_t>(config.count("n"));
  DenseProblem problem{
      .operation = &operation, .title = operation.name, .n = n, .element = element_type_of<T>};
  problem.in_tf32 = config.text("precision") == "tf32";
  if (problem.in_tf32 && &operation != &cholesky_operation)
    throw ConfigError(fmt::format("--precision tf32 requires cholesky, not {}", operation.key));
  if (&operation == &qr_operation) {
    problem.m = static_cast<std::int64_t>(config.count_or("m", config.count("n")));
    if (config.has("tree") && config.text("tree") == "binary") problem.tree = linalg::QrTree::binary;
    if (problem.m < n)
      throw ConfigError(
          fmt::format("--m {} --n {}: QR requires at least as many rows as columns", problem.m, n));
    if (problem.m == n) problem.m = 0;
  } else {
    if (config.has("m")) throw ConfigError("--m requires qr: the other matrices are square");
    if (config.has("tree")) throw ConfigError("--tree requires qr");
  }

  static_cast<void>(front_in(config, operation));  // a usage error before anything takes time
  problem.ranks = ranks.count();
  set_workers_of_ranks(config, ranks);
  if (ranks.first()) require_place_for_report(config);
  apply_quiet(config);
  const KernelsAndDevices loaded = load_kernels_and_devices(config, false, problem, ranks);
  const linalg::Kernels& kernels = loaded.kernels;
  const std::size_t workers = config.count_or("workers", machine::discover().workers);
  const auto benchmark = [&] { return make_benchmark<T>(problem, kernels, config.count("seed")); };
  problem.reserved = benchmark()->reserved_bytes(workers);
  if (!config.has("memory")) {
    const auto part = static_cast<Bytes>(config.real("memory-fraction") *
                                         static_cast<double>(problem.matrix_bytes() / ranks.count()));
    config.set("memory", std::max(part, problem.reserved + least_for_tiles));
  }
  problem.memory_limit = config.bytes("memory");
  problem.own_products = kernels.has_own_products();
  problem.set_tile(config, workers);

  auto [report, recorded] = ranks.results([&](const GridRank& place) {
    const auto own = benchmark();
    WatchedRun run(config, problem.reserved, kernels, front_at(config, place, *problem.operation),
                   place.rank);
    return run.report_failure_of([&] { return measure<T>(run, config, problem, kernels, *own, place); });
  });
  report.devices = loaded.devices;
  if (ranks.alone()) measure_ceiling(report, kernels, problem);
  if (!ranks.first()) return wrong_answer(report) ? wrong_result : success;
  return publish_result(report, config, recorded, "", "");
}

int run(const ParsedCommandLine& given) {
  const DenseOperation& operation = find_operation(given.positionals.front());
  return on_ranks(given.config, [&](CommandRanks& ranks) {
    warn_of_former_name(ranks, given.positionals.front());
    return given.config.text("precision") == "double" ? bench_dense<double>(ranks, given.config, operation)
                                                      : bench_dense<float>(ranks, given.config, operation);
  });
}

}  // namespace

const Subcommand bench{.name = "bench",
                       .summary = summary,
                       .positionals = positionals,
                       .options = options,
                       .run = run,
                       .over_ranks = true};

}  // namespace fairlead::app
