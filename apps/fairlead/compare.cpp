// fairlead compare: policies compared with the first of them, on a simulated machine. A single size is not
// representative: whether one more tile fits may decide. So neighbouring sizes run as well, and with noise
// several seeds.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "fairlead/problem/dense_report.hpp"
#include "fairlead/simulate/simulation_settings.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"
#include "report/report_file.hpp"
#include "simulate/run_outcome.hpp"
#include "simulate/run_statistics.hpp"

namespace fairlead::app {

namespace {

using namespace fairlead::simulate;

constexpr std::array own = {
    Setting{.key = "neighbours",
            .type = SettingType::count,
            .default_value = "1",
            .maximum = "20",
            .help = "number of sizes below and above n that are run as well, in steps of a tile",
            .advanced = true},
    Setting{.key = "runs",
            .type = SettingType::count,
            .unset_word = "auto",
            .minimum = "1",
            .maximum = "1000",
            .help = "number of runs of each size, with --seed and the seeds after it",
            .unset_meaning = "1; 3 with --noise or --charge-decisions"},
};
constexpr auto options = both(simulation_settings, own);
constexpr std::string_view of_one_run = "needs a single run: use `fairlead simulate`, or --json";
constexpr auto settings = both(
    settings_of_simulations,
    std::array{
        AcceptedSetting{
            .key = "scheduler",
            .help =
                "policies, separated by commas (`fairlead schedulers` lists them and their options), or "
                "plug-ins (FILE.so); the first is the baseline; all: every policy (default\teager,darts)"},
        AcceptedSetting{.key = "json", .help = "write all figures to this file (default\tnone)"},
        AcceptedSetting{.key = "report", .refused = of_one_run},
        AcceptedSetting{.key = "trace", .refused = of_one_run},
        AcceptedSetting{.key = "event-log", .refused = of_one_run}});
constexpr Positional positionals[] = {{.name = "WORKLOAD",
                                       .help = "as for `fairlead simulate`; none: Cholesky on one V100 with "
                                               "2000 MB, in single precision, as in Figure 5 "
                                               "of the DARTS paper",
                                       .required = false}};

/// The defaults: Figure 5 of Gonthier, Marchal, Thibault 2023.
constexpr std::pair<std::string_view, std::string_view> figure_5[] = {
    {"machine", "v100-pcie"}, {"precision", "single"}, {"gpus", "1"}, {"memory", "2000MB"}};

/// Several ratios of one policy to the first.
struct Ratios {
  double logarithms = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  std::size_t count = 0;

  void add(double ratio) {
    logarithms += std::log(ratio);
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    ++count;
  }
  bool any() const noexcept { return count != 0; }
  /// The geometric mean: that of A to B is then one over that of B to A.
  double mean() const { return std::exp(logarithms / static_cast<double>(count)); }
  std::string text() const { return any() ? fmt::format("{:.3f}", mean()) : "-"; }
  std::string range() const { return any() ? fmt::format("{:.3f}-{:.3f}", least, most) : "-"; }
};

/// The results of a policy over all runs.
struct Standing {
  std::string scheduler;
  Ratios time, bytes;
  double gflops = 0, percent = 0, loaded = 0;  ///< sums
  std::size_t finished = 0;
  std::string problem;  ///< of the first run that did not finish
  Json runs = Json::array();

  double mean(double sum) const { return sum / static_cast<double>(finished); }
};

void take(Standing& standing, const RunOutcome& outcome, const RunOutcome& first, const Limits& limits) {
  if (!outcome.problem.empty()) {
    if (standing.problem.empty()) standing.problem = outcome.problem;
    return;
  }
  ++standing.finished;
  standing.gflops += gflops(outcome, limits);
  standing.percent += percent_of_peak(outcome, limits);
  standing.loaded += static_cast<double>(bytes_loaded(outcome));
  if (!first.problem.empty()) return;
  standing.time.add(outcome.result.seconds / first.result.seconds);
  if (bytes_loaded(first) != 0 && bytes_loaded(outcome) != 0)
    standing.bytes.add(static_cast<double>(bytes_loaded(outcome)) / static_cast<double>(bytes_loaded(first)));
}

std::vector<WorkloadSize> sizes_of(const Config& config) {
  const WorkloadSize middle = size_of(config);
  const auto neighbours = static_cast<std::int64_t>(config.count("neighbours"));
  std::vector<WorkloadSize> sizes;
  for (std::int64_t step = -neighbours; step <= neighbours; ++step) {
    sizes.push_back(middle);
    sizes.back().n += step * middle.tile;
  }
  if (sizes.front().n < 1)
    throw ConfigError(
        fmt::format("--n {}: too small for --neighbours {} in steps of a tile of {}: use a larger n, a "
                    "smaller --tile, or --neighbours 0",
                    middle.n, neighbours, middle.tile));
  return sizes;
}

void print(const std::vector<Standing>& standings, bool devices) {
  std::size_t width = 24;  // a path may need more
  for (const Standing& it : standings) width = std::max(width, it.scheduler.size() + 1);
  fmt::print("{:<{}}{:>9}{:>8}{:>8}{:>14}{:>13}{:>8}{:>14}\n", "scheduler", width, "GFlop/s", "% peak",
             "time", "least-most", devices ? "to devices" : "from disk", "bytes", "least-most");
  for (const Standing& it : standings) {
    if (it.finished == 0)
      fmt::print("{:<{}}never finished\n", it.scheduler, width);
    else
      fmt::print("{:<{}}{:>9.0f}{:>8.1f}{:>8}{:>14}{:>10.1f} GB{:>8}{:>14}\n", it.scheduler, width,
                 it.mean(it.gflops), it.mean(it.percent), it.time.text(), it.time.range(),
                 it.mean(it.loaded) * 1e-9, it.bytes.text(), it.bytes.range());
  }
}

Json json(const Standing& it) {
  const auto number = [](const Ratios& ratios, double value) { return ratios.any() ? Json(value) : Json(); };
  Json row = Json::object();
  row.add("scheduler", it.scheduler);
  row.add("time_ratio", number(it.time, it.time.mean()));
  row.add("least_time_ratio", number(it.time, it.time.least));
  row.add("most_time_ratio", number(it.time, it.time.most));
  row.add("bytes_ratio", number(it.bytes, it.bytes.mean()));
  row.add("least_bytes_ratio", number(it.bytes, it.bytes.least));
  row.add("most_bytes_ratio", number(it.bytes, it.bytes.most));
  row.add("runs", it.runs);
  return row;
}

int run(const ParsedCommandLine& given) {
  Config config = given.config;
  const std::string workload = given.positionals.empty() ? "cholesky" : given.positionals[0];
  if (given.positionals.empty())
    for (const auto& [key, value] : figure_5)
      if (!is_set(config, key)) config.set(key, value);
  std::vector<std::string> policies = policies_in(config.text_or("scheduler", "eager,darts"));
  if (policies.size() < 2)
    throw ConfigError(fmt::format(
        "--scheduler {} is one policy: give at least two, separated by commas, as in --scheduler {},{}",
        policies[0], policies[0], policies[0] == "darts" ? "eager" : "darts"));
  const std::vector<WorkloadSize> sizes = sizes_of(config);
  SimulationOptions how = simulation_options(config);
  const std::uint64_t seeds = config.count_or("runs", how.noise_percent != 0 || how.charge_decisions ? 3 : 1);
  const std::uint64_t first_seed = how.seed;
  for (const char* file : {"json", "csv"})
    if (config.has(file)) report::require_place_for(config.text(file));
  const machine::MachineDescription description = machine::load_machine(config.text("machine"));

  std::vector<Standing> standings(policies.size());
  std::string csv = csv_heading();
  bool devices = false;
  for (const WorkloadSize& size : sizes) {
    const Program program = make_workload(workload, size);
    const SimulatedMachine machine(description, use_of(config, description), program, size.precision);
    const Limits limits = limits_of(program, machine, &find_workload(workload), size);
    devices = machine.devices() > 0;
    // The policy that "auto" selects for the first size is kept for all sizes.
    policies = named(policies, program, machine);
    std::vector<PolicyStatistics> runs;
    for (std::size_t i = 0; i < policies.size(); ++i)
      runs.push_back({.scheduler = standings[i].scheduler = policies[i]});
    fmt::print("{}: {} tasks, at best {:.3f} s\n", program.title, program.tasks.size(), limits.time.compute);
    std::fflush(stdout);
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      how.seed = seed;
      RunOutcome first;
      for (Standing& standing : standings) {
        RunOutcome outcome = outcome_of(program, machine, standing.scheduler, how);
        if (&standing == standings.data()) first = outcome;
        take(standing, outcome, first, limits);
        PolicyStatistics& of_size = runs[static_cast<std::size_t>(&standing - standings.data())];
        of_size.add(outcome, limits);
        of_size.compare(outcome, first);
        standing.runs.add(simulate::json(outcome, limits, program, machine, workload, size));
      }
    }
    for (const PolicyStatistics& of_size : runs) csv += csv_line(of_size, description.name, workload, size);
  }
  if (config.has("csv")) report::write_file(config.text("csv"), csv);
  fmt::print("{}: {}\n", description.name, description.summary);
  fmt::print("time and bytes relative to {}: mean, least and most over {} sizes{}\n\n", policies[0],
             sizes.size(), seeds > 1 ? fmt::format(" with {} seeds each", seeds) : "");
  print(standings, devices);

  int code = success;
  Json rows = Json::array();
  for (const Standing& standing : standings) {
    rows.add(json(standing));
    if (standing.problem.empty()) continue;
    fmt::print(stderr, "fairlead: {} did not finish: {}\n", standing.scheduler, standing.problem);
    code = failure;
  }
  if (config.has("json")) write_json(config.text("json"), rows);
  return code;
}

}  // namespace

const Subcommand compare{
    .name = "compare",
    .summary = "Compares policies on a workload by simulation of a machine that you need not have.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .settings = settings};

}  // namespace fairlead::app
