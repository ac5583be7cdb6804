// fairlead simulate: a program on a machine that one need not have, under one policy or several.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "fairlead/dense_report.hpp"
#include "fairlead/simulation_settings.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"
#include "report/report_file.hpp"
#include "simulate/outcome.hpp"

namespace fairlead::app {

namespace {

using namespace fairlead::simulate;

constexpr Positional positionals[] = {
    {.name = "WORKLOAD", .help = "cholesky, lu, gemm, ...; `fairlead simulate list` lists them"}};

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

int run(const ParsedCommandLine& given) {
  if (given.positionals[0] == "list") {
    list_workloads();
    return success;
  }
  const Config& config = given.config;
  const WorkloadSize size = size_of(config);
  const std::vector<std::string> policies = policies_in(config.text_or("scheduler", "darts"));
  if (config.has("json")) report::require_place_for(config.text("json"));
  const Program program = make_workload(given.positionals[0], size);
  const machine::MachineDescription description = machine::find_machine(config.text("machine"));
  const SimulatedMachine machine(description, use_of(config, description), program, size.precision);
  const Limits limits = limits_of(program, machine, &find_workload(given.positionals[0]), size);
  const SimulationOptions how = simulation_options(config);
  print_limits(limits, program, machine);
  fmt::print("{}\n", table_heading(machine.devices() > 0));
  Json rows = Json::array();
  int code = success;
  for (const std::string& policy : policies) {
    const Outcome outcome = outcome_of(program, machine, policy, how);
    fmt::print("{}\n", table_line(outcome, limits, machine.devices() > 0));
    std::fflush(stdout);
    rows.add(json(outcome, limits, program));
    if (!outcome.problem.empty()) {
      fmt::print(stderr, "fairlead: {} did not finish: {}\n", policy, outcome.problem);
      code = failure;
    }
  }
  if (config.has("json")) write_json(config.text("json"), rows);
  return code;
}

}  // namespace

const Subcommand simulate_command{
    .name = "simulate",
    .summary = "Runs a workload on a machine that one need not have, under one policy or several.",
    .positionals = positionals,
    .options = simulation_settings,
    .run = run};

}  // namespace fairlead::app
