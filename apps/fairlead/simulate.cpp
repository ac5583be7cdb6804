// fairlead simulate: a program on a simulated machine, under one policy or several.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/given.hpp"
#include "fairlead/run/report_output.hpp"
#include "fairlead/run/run_options.hpp"
#include "fairlead/simulate/simulate_on_machine.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/machine_files.hpp"
#include "report/html/page.hpp"
#include "report/perfetto.hpp"
#include "report/report_file.hpp"
#include "schedule/policies.hpp"
#include "simulate/cluster/cluster_scenario.hpp"
#include "simulate/default_policy.hpp"
#include "simulate/flow_file.hpp"
#include "simulate/study/study.hpp"

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

void write_reported(const Config& config, const StudyResult& result) {
  if (config.has("json")) write_json(config.text("json"), result.runs);
  if (config.has("report")) {
    report::write_file(config.text("report"), report::comparison_page(result.compared, result.recorded));
    fmt::print("\nHTML report: {}\n", config.text("report"));
  }
  if (config.has("trace")) report::write_trace(config.text("trace"), result.recorded);
}

}  // namespace

std::vector<std::string> given_policies(const Config& config, std::string_view otherwise) {
  std::vector<std::string> policies = policies_in(config.text_or("scheduler", otherwise));
  for (const std::string& policy : policies)
    if (const std::string note = schedule::renaming_note(policy); !note.empty())
      fmt::print(stderr, "fairlead: warning: {}\n", note);
  return policies;
}

int run_on_machine(SimulatedProgram what, const Config& config) {
  std::vector<std::string> policies = given_policies(config, automatic);
  const std::uint64_t seeds = config.count("runs");
  for (const char* of_one : {"trace", "event-log"})
    if (config.has(of_one) && (policies.size() > 1 || seeds > 1))
      throw ConfigError(
          fmt::format("--{} needs a single run: give --scheduler one policy, and no --runs", of_one));
  require_place_for_report(config);
  if (config.has("csv")) report::require_place_for(config.text("csv"));
  const Scenario scenario(std::move(what), machine::load_machine(config.text("machine")), config);
  SimulationOptions how = scenario.options();
  how.keep_order = config.has("report");
  // A page of several runs shows their results, not every event.
  if (policies.size() == 1 && seeds == 1 && (config.has("report") || config.has("trace")))
    how.trace_memory = config.bytes("trace-memory");
  how.event_log = config.text_or("event-log", "");
  fmt::print("{}\n", limits_text(scenario));
  if (std::ranges::find(policies, automatic) != policies.end())
    fmt::print("{}\n\n", automatic_policy_text(scenario));
  std::size_t width = 24;  // a path or options may need more
  for (std::string& policy : policies) {
    policy = scenario.policy_name(policy);
    width = std::max(width, policy.size() + 1);
  }
  const bool devices = scenario.machine().devices() > 0;
  fmt::print("{}\n", seeds == 1 ? table_heading(devices, width) : spread_heading(width));
  StudyObserver observer;
  observer.on_run = [&](const RunOutcome& outcome, const PolicyStatistics& runs) {
    if (seeds == 1) fmt::print("{}\n", table_line(outcome, scenario.limits(), devices, width));
    if (!outcome.problem.empty() && runs.runs == runs.seconds.count + 1)  // the first of them
      fmt::print(stderr, "fairlead: {} did not finish: {}\n", outcome.scheduler, outcome.problem);
  };
  observer.on_policy = [&](const PolicyStatistics& runs) {
    if (seeds > 1) fmt::print("{}\n", spread_line(runs, width));
    std::fflush(stdout);
  };
  const StudyResult result = study(scenario, policies, seeds, how, observer);
  if (config.has("csv")) report::write_file(config.text("csv"), result.csv(scenario));
  write_reported(config, result);
  return result.all_finished ? success : failure;
}

namespace {

int run_on_cluster(const std::string& workload, const WorkloadSize& size, const Config& config) {
  require_place_for_report(config);
  std::vector<std::string> policies = given_policies(config, automatic);
  const ClusterScenario scenario(workload, size, machine::load_machine(config.text("machine")), config);
  fmt::print("{}\n", scenario.title());
  std::size_t width = 16;
  for (std::string& policy : policies) {
    policy = scenario.policy_name(policy);
    width = std::max(width, policy.size() + 1);
  }
  Json rows = Json::array();
  ClusterOptions how = scenario.options();
  for (const std::string& policy : policies) {
    how.policy = policy;
    const ClusterResult result = scenario.run(how);
    if (rows.elements()->empty()) fmt::print("{}", ClusterScenario::heading(result, width));
    fmt::print("{}", ClusterScenario::line(policy, result, width));
    if (policies.size() == 1) fmt::print("{}", ClusterScenario::ranks_table(result));
    std::fflush(stdout);
    rows.add(scenario.json(result, how));
  }
  if (config.has("json")) write_json(config.text("json"), rows);
  return success;
}

int run_recorded(const Config& config) {
  for (const char* key : {"n", "tile"})
    if (config::is_set(config, key))
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
    fmt::print("{}", workloads_text());
    return success;
  }
  const WorkloadSize size = size_of(config);
  if (is_on_cluster(config)) return run_on_cluster(given.positionals[0], size, config);
  static_cast<void>(front_in(config));  // a usage error with --record-flow
  return run_on_machine(workload_program(given.positionals[0], size, workload_front_in(config)), config);
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
