// fairlead simulate: a program on a machine that one need not have, under one policy or several.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "fairlead/dense_report.hpp"
#include "fairlead/replay_seeds.hpp"
#include "fairlead/simulation_settings.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"
#include "report/html/page.hpp"
#include "report/perfetto.hpp"
#include "report/report_file.hpp"
#include "schedule/policies.hpp"
#include "simulate/comparison.hpp"
#include "simulate/outcome.hpp"

namespace fairlead::app {

namespace {

using namespace fairlead::simulate;

constexpr auto options = [] {
  constexpr std::array own = {
      Setting{.key = "replay",
              .type = SettingType::flag,
              .fallback = "false",
              .help = "no workload, but the random run with faults that the tests make of --seed: what it "
                      "is, and whether "
                      "all invariants hold"},
      Setting{.key = "seeds",
              .type = SettingType::text,
              .absent = "none",
              .value_name = "FIRST-LAST",
              .help = "with --replay: all these instead of --seed; those that fail are named"},
      Setting{
          .key = "plant",
          .type = SettingType::text,
          .absent = "none",
          .value_name = "MISTAKE",
          .help = "with --replay: with this mistake in the memory or the engine, to see that it is caught"}};
  return both(simulation_settings, own);
}();
constexpr Positional positionals[] = {{.name = "WORKLOAD",
                                       .help = "cholesky, lu, gemm, ...; `fairlead simulate list` lists them",
                                       .required = false}};

void list_workloads() {
  for (const Workload& workload : workloads()) {
    fmt::print("{:<12}{}\n", workload.name, workload.summary);
    for (const PolicyOption& option : workload.options)
      fmt::print("  {:<26}{}\n", fmt::format("{}={}", option.name, option.fallback), option.summary);
  }
  fmt::print("\nOptions follow the name: fairlead simulate NAME:OPTION=VALUE:OPTION=VALUE\n");
}

void print_limits(const Limits& limits, const Program& program, const SimulatedMachine& machine) {
  const auto gigabytes = [](double bytes) { return bytes * 1e-9; };
  fmt::print("{}: {} tasks, {:.1f} GB of data\n", program.title, program.tasks.size(),
             gigabytes(static_cast<double>(program.bytes())));
  fmt::print("{}: {}\n", machine.description().name, machine.description().summary);
  fmt::print(
      "at best {:.3f} s of computing ({:.0f} GFlop/s), {:.3f} s along the critical path; the bus carries "
      "{:.1f} GB "
      "in that time\n",
      limits.time.compute, limits.gflops_at_best(), limits.time.critical_path,
      gigabytes(limits.bus_limit_bytes));
  if (limits.io)
    fmt::print("loads: at least {:.1f} GB (lower bound); {:.1f} GB is the floor that schedules approach\n",
               gigabytes(static_cast<double>(limits.io->lower_bound())),
               gigabytes(static_cast<double>(limits.io->floor_read())));
  fmt::print("\n");
}

void write_reported(const Config& config, const Json& rows, const report::Comparison& compared,
                    const trace::Snapshot& recorded) {
  if (config.has("json")) write_json(config.text("json"), rows);
  if (config.has("report")) {
    report::write_file(config.text("report"), report::comparison_page(compared, recorded));
    fmt::print("\nAs a page for a browser: {}\n", config.text("report"));
  }
  if (config.has("trace")) report::write_trace(config.text("trace"), recorded);
}

int run(const ParsedCommandLine& given) {
  const Config& config = given.config;
  if (config.flag("replay")) {
    if (!given.positionals.empty())
      throw ConfigError(fmt::format("--replay takes no workload, but there is \"{}\"", given.positionals[0]));
    return replay_seeds(config);
  }
  for (const char* key : {"seeds", "plant"})
    if (config.has(key)) throw ConfigError(fmt::format("--{} is for --replay", key));
  if (given.positionals.empty())
    throw ConfigError("missing argument WORKLOAD: `fairlead simulate list` lists them");
  if (given.positionals[0] == "list") {
    list_workloads();
    return success;
  }
  const WorkloadSize size = size_of(config);
  const std::vector<std::string> policies = policies_in(config.text_or("scheduler", "darts"));
  if (config.has("trace") && policies.size() > 1)
    throw ConfigError("--trace writes one run: give --scheduler one policy");
  require_place_for_report(config);
  const Program program = make_workload(given.positionals[0], size);
  const machine::MachineDescription description = machine::find_machine(config.text("machine"));
  const SimulatedMachine machine(description, use_of(config, description), program, size.precision);
  const Limits limits = limits_of(program, machine, &find_workload(given.positionals[0]), size);
  SimulationOptions how = simulation_options(config);
  how.keep_order = config.has("report");
  // Of several runs a page shows what they came to, not every moment.
  if (policies.size() == 1 && (config.has("report") || config.has("trace")))
    how.trace_memory = config.bytes("trace-memory");
  print_limits(limits, program, machine);
  fmt::print("{}\n", table_heading(machine.devices() > 0));
  Json rows = Json::array();
  report::Comparison compared = comparison_of(program, machine, limits);
  trace::Snapshot recorded;
  int code = success;
  for (const std::string& policy : policies) {
    Outcome outcome = outcome_of(program, machine, policy, how);
    fmt::print("{}\n", table_line(outcome, limits, machine.devices() > 0));
    std::fflush(stdout);
    rows.add(json(outcome, limits, program));
    add_run(compared, program, machine, limits, size, given.positionals[0], outcome);
    if (outcome.result.recorded) recorded = std::move(*outcome.result.recorded);
    if (!outcome.problem.empty()) {
      fmt::print(stderr, "fairlead: {} did not finish: {}\n", policy, outcome.problem);
      code = failure;
    }
  }
  write_reported(config, rows, compared, recorded);
  return code;
}

}  // namespace

const Subcommand simulate_command{
    .name = "simulate",
    .summary = "Runs a workload on a machine that one need not have, under one policy or several.",
    .positionals = positionals,
    .options = options,
    .run = run};

}  // namespace fairlead::app
