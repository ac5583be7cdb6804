// fairlead simulate: a program on a simulated machine, under one policy or several.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/jdf/jdf_algorithms.hpp"
#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/front.hpp"
#include "fairlead/simulate/simulate_cluster.hpp"
#include "fairlead/simulate/simulate_on_machine.hpp"
#include "fairlead/simulate/simulation_settings.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"
#include "report/html/page.hpp"
#include "report/perfetto.hpp"
#include "report/report_file.hpp"
#include "schedule/policies.hpp"
#include "simulate/comparison.hpp"
#include "simulate/flow_file.hpp"
#include "simulate/jdf_program.hpp"
#include "simulate/ptg_program.hpp"
#include "simulate/run_outcome.hpp"
#include "simulate/run_statistics.hpp"

namespace fairlead::app {

namespace {

using namespace fairlead::simulate;

constexpr auto options = both(
    both(
        simulation_settings,
        std::array{
            Setting{.key = "recorded",
                    .type = SettingType::text,
                    .unset_word = "none",
                    .value_name = "FILE",
                    .help = "instead of a workload: the flow of a real program that --record-flow FILE wrote",
                    .advanced = true},
            Setting{.key = "phase",
                    .type = SettingType::count,
                    .unset_word = "all",
                    .minimum = "1",
                    .help = "with --recorded: only this phase, that is what the program submitted before its "
                            "first wait (1), second wait (2), ...",
                    .advanced = true},
            Setting{.key = "front",
                    .type = SettingType::choice,
                    .default_value = "flow",
                    .choices = "flow|ptg|jdf",
                    .help = "front end of the workload, if it is cholesky, lu or gemm: a flow, one task "
                            "after the other; a parameterized graph; or such a graph from a JDF file. Tasks "
                            "and data are the same, the order in which policies are notified of them is not",
                    .advanced = true},
            runs_setting}),
    cluster_settings);
// A graph from a JDF file runs on one machine.
constexpr auto settings = both(settings_of_simulate, settings_of_clusters);
constexpr Positional positionals[] = {{.name = "WORKLOAD",
                                       .help = "cholesky, lu, gemm, ...; `fairlead simulate list` lists them",
                                       .required = false}};

void list_workloads() {
  for (const Workload& workload : workloads()) {
    fmt::print("{:<12}{}\n", workload.name, workload.summary);
    for (const PolicyOption& option : workload.options)
      fmt::print("  {:<26}{}\n", fmt::format("{}={}", option.name, option.default_value), option.summary);
  }
  fmt::print(
      "\nOver several ranks there are cholesky, lu, gemm, stencil, and pingpong, which sends a value of n "
      "elements back and forth between two ranks, :hops=100 times\n");
  fmt::print("\nOptions follow the name: fairlead simulate NAME:OPTION=VALUE:OPTION=VALUE\n");
}

void print_limits(const Limits& limits, const Program& program, const SimulatedMachine& machine) {
  fmt::print("{}: {} tasks, {} of data\n", program.title, program.tasks.size(), gigabytes(program.bytes()));
  fmt::print("{}: {}\n", machine.description().name, machine.description().summary);
  fmt::print(
      "at best {:.5g} s of computing ({:.0f} GFlop/s), {:.5g} s along the critical path; the bus transfers "
      "{} in that time\n",
      limits.time.compute, limits.gflops_at_best(), limits.time.critical_path,
      gigabytes(limits.bus_limit_bytes));
  if (limits.io)
    fmt::print("loads: at least {} (lower bound); {} is the floor that schedules approach\n",
               gigabytes(limits.io->lower_bound()), gigabytes(limits.io->floor_read()));
  fmt::print("\n");
}

std::string spread_heading(std::size_t width) {
  return fmt::format("{:<{}}{:>9}{:>17}{:>11}{:>9}{:>12}{:>17}", "scheduler", width, "seconds", "least-most",
                     "GFlop/s", "% peak", "loaded, GB", "least-most");
}

/// Loaded: bytes that arrived where tasks run.
std::string spread_line(const PolicyStatistics& runs, std::size_t width) {
  if (runs.seconds.count == 0) return fmt::format("{:<{}}never finished", runs.scheduler, width);
  const auto range = [](const RunStatistics& it, double unit) {
    return fmt::format("{:.4g}-{:.4g}", it.min / unit, it.max / unit);
  };
  const RunStatistics& loaded = runs.bytes_to_devices.max > 0 ? runs.bytes_to_devices : runs.bytes_from_disk;
  return fmt::format("{:<{}}{:>9.4g}{:>17}{:>11.0f}{:>9.1f}{:>12.4g}{:>17}", runs.scheduler, width,
                     runs.seconds.mean(), range(runs.seconds, 1), runs.gflops.mean(),
                     runs.percent_of_peak.mean(), loaded.mean() / 1e9, range(loaded, 1e9));
}

void write_reported(const Config& config, const Json& rows, const report::Comparison& compared,
                    const trace::Snapshot& recorded) {
  if (config.has("json")) write_json(config.text("json"), rows);
  if (config.has("report")) {
    report::write_file(config.text("report"), report::comparison_page(compared, recorded));
    fmt::print("\nHTML report: {}\n", config.text("report"));
  }
  if (config.has("trace")) report::write_trace(config.text("trace"), recorded);
}

}  // namespace

int run_on_machine(const Simulated& what, const Config& config) {
  const std::vector<std::string> requested = policies_in(config.text_or("scheduler", "auto"));
  const std::uint64_t seeds = config.count("runs");
  for (const char* of_one : {"trace", "event-log"})
    if (config.has(of_one) && (requested.size() > 1 || seeds > 1))
      throw ConfigError(
          fmt::format("--{} needs a single run: give --scheduler one policy, and no --runs", of_one));
  require_place_for_report(config);
  if (config.has("csv")) report::require_place_for(config.text("csv"));
  const Program& program = what.program;
  const machine::MachineDescription description = machine::load_machine(config.text("machine"));
  const SimulatedMachine machine(description, use_of(config, description), program, what.size.precision);
  const Limits limits = limits_of(program, machine, what.workload, what.size);
  const std::vector<std::string> policies = named(requested, program, machine);
  SimulationOptions how = simulation_options(config);
  how.keep_order = config.has("report");
  // A page of several runs shows their results, not every event.
  if (policies.size() == 1 && seeds == 1 && (config.has("report") || config.has("trace")))
    how.trace_memory = config.bytes("trace-memory");
  how.event_log = config.text_or("event-log", "");
  by_worker(how.slow, machine.topology());  // refused before anything runs
  by_kernel(how.misjudged, program);
  print_limits(limits, program, machine);
  if (std::ranges::find(requested, "auto") != requested.end()) {
    const std::string_view too_small = insufficient_memory(program, machine);
    fmt::print("auto is {} here, as in a real run: the data {}{}\n\n", default_policy_of(program, machine),
               too_small.empty() ? "fit in each memory" : "do not fit in ", too_small);
  }
  std::size_t width = 24;  // a path or options may need more
  for (const std::string& policy : policies) width = std::max(width, policy.size() + 1);
  fmt::print("{}\n", seeds == 1 ? table_heading(machine.devices() > 0, width) : spread_heading(width));
  std::string csv = csv_heading();
  Json rows = Json::array();
  report::Comparison compared = comparison_of(program, machine, limits);
  trace::Snapshot recorded;
  int code = success;
  const std::uint64_t first_seed = how.seed;
  for (const std::string& policy : policies) {
    PolicyStatistics runs{.scheduler = policy};
    for (how.seed = first_seed; how.seed - first_seed < seeds; ++how.seed) {
      RunOutcome outcome = outcome_of(program, machine, policy, how);
      runs.add(outcome, limits);
      if (seeds == 1) fmt::print("{}\n", table_line(outcome, limits, machine.devices() > 0, width));
      rows.add(json(outcome, limits, program, machine, what.name, what.size));
      if (how.seed == first_seed) add_run(compared, program, machine, limits, what.size, what.name, outcome);
      if (outcome.result.recorded) recorded = std::move(*outcome.result.recorded);
      if (!outcome.problem.empty() && runs.runs == runs.seconds.count + 1) {  // the first of them
        fmt::print(stderr, "fairlead: {} did not finish: {}\n", policy, outcome.problem);
        code = failure;
      }
    }
    if (seeds > 1) fmt::print("{}\n", spread_line(runs, width));
    std::fflush(stdout);
    csv += csv_line(runs, machine.description().name, what.name, what.size);
  }
  if (config.has("csv")) report::write_file(config.text("csv"), csv);
  // The page shows one of the runs.
  if (seeds > 1)
    for (report::ComparedRun& run : compared.runs)
      run.report.operation +=
          fmt::format(", seed {} of {} to {}", first_seed, first_seed, first_seed + seeds - 1);
  write_reported(config, rows, compared, recorded);
  return code;
}

namespace {

int run_recorded(const Config& config) {
  for (const char* key : {"n", "tile"})
    if (is_set(config, key))
      throw ConfigError(
          fmt::format("--{} has no effect with --recorded: data have their recorded sizes", key));
  std::optional<std::uint64_t> phase;
  if (config.has("phase")) phase = config.count("phase");
  FlowFile flow = read_flow_file(config.text("recorded"), precision_in(config), phase);
  if (flow.program.tasks.empty()) throw InputError(flow.program.title + " has no tasks");
  if (!phase && flow.phases > 1)
    fmt::print("{} phases, separated by waits of the program; --phase 2 simulates the second alone\n",
               flow.phases);
  if (flow.measured != 0)
    fmt::print("{} tasks count as {} operations per nanosecond of their recorded duration\n", flow.measured,
               assumed_flops_per_nanosecond);
  if (flow.assumed != 0)
    fmt::print("{} tasks of unknown cost count as {} operation per byte of their data\n", flow.assumed,
               assumed_flops_per_byte);
  for (const std::string& what : flow.left_out) fmt::print("not simulated: {}\n", what);
  return run_on_machine(
      {config.text("recorded"), std::move(flow.program), nullptr, {.precision = precision_in(config)}},
      config);
}

/// The workload by the selected front end.
Program program_of(const std::string& workload, const WorkloadSize& size, Front front) {
  Program flow = make_workload(workload, size);
  if (front == Front::flow) return flow;
  Program program = flow;
  if (front == Front::ptg) {
    program = in_order_of(graph_of(workload, size), flow);
  } else {
    require_in_jdf(workload);
    program = simulate::program_of(*jdf_algorithm(workload, size), size.tile, size.precision).program;
  }
  program.title = fmt::format("{}, as {}", flow.title, front == Front::ptg ? "a parameterized graph" : "JDF");
  return program;
}

int run(const ParsedCommandLine& given) {
  const Config& config = given.config;
  if (config.has("recorded") && !given.positionals.empty())
    throw ConfigError(fmt::format("--recorded takes no workload, but there is \"{}\"", given.positionals[0]));
  if (config.has("recorded") && is_on_cluster(config))
    throw ConfigError("--recorded simulates one node: it does not work with --ranks or --grid");
  if (config.has("recorded") && front_in(config) != Front::flow)
    throw ConfigError("--front is for workloads: --recorded is always a flow");
  if (config.has("recorded")) return run_recorded(config);
  if (config.has("phase")) throw ConfigError("--phase requires --recorded");
  if (given.positionals.empty())
    throw ConfigError("missing argument WORKLOAD: `fairlead simulate list` lists them");
  if (given.positionals[0] == "list") {
    list_workloads();
    return success;
  }
  const WorkloadSize size = size_of(config);
  if (is_on_cluster(config)) return run_on_cluster(given.positionals[0], size, config);
  return run_on_machine({given.positionals[0], program_of(given.positionals[0], size, front_in(config)),
                         &find_workload(given.positionals[0]), size},
                        config);
}

}  // namespace

const Subcommand simulate_command{
    .name = "simulate",
    .summary = "Simulates a workload on a machine that you need not have, under one policy or several.",
    .positionals = positionals,
    .options = options,
    .run = run,
    .settings = settings};

}  // namespace fairlead::app
