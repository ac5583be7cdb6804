// Runs the policies, and describes the results.
#include "simulate/study/study.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "simulate/comparison.hpp"
#include "simulate/default_policy.hpp"

namespace fairlead::simulate {

StudyResult study(const Scenario& scenario, const std::vector<std::string>& policies, std::uint64_t seeds,
                  SimulationOptions options, const StudyObserver& observer) {
  StudyResult result;
  result.compared = comparison_of(scenario.program(), scenario.machine(), scenario.limits());
  const std::uint64_t first_seed = options.seed;
  for (const std::string& policy : policies) {
    PolicyStatistics& runs = result.policies.emplace_back();
    runs.scheduler = policy;
    for (options.seed = first_seed; options.seed - first_seed < seeds; ++options.seed) {
      RunOutcome outcome = scenario.run(policy, options);
      runs.add(outcome, scenario.limits());
      result.runs.add(scenario.json(outcome));
      if (options.seed == first_seed)
        add_run(result.compared, scenario.program(), scenario.machine(), scenario.limits(), scenario.size(),
                scenario.name(), outcome);
      if (outcome.result.recorded) result.recorded = std::move(*outcome.result.recorded);
      result.all_finished = result.all_finished && outcome.problem.empty();
      if (observer.on_run) observer.on_run(outcome, runs);
    }
    if (observer.on_policy) observer.on_policy(runs);
  }
  // The page shows one of the runs.
  if (seeds > 1)
    for (report::ComparedRun& run : result.compared.runs)
      run.report.operation +=
          fmt::format(", seed {} of {} to {}", first_seed, first_seed, first_seed + seeds - 1);
  return result;
}

std::string StudyResult::csv(const Scenario& scenario) const {
  std::string text = csv_heading();
  for (const PolicyStatistics& policy : policies)
    text += csv_line(policy, scenario.machine().description().name, scenario.name(), scenario.size());
  return text;
}

std::string limits_text(const Scenario& scenario) {
  const Limits& limits = scenario.limits();
  const Program& program = scenario.program();
  const machine::MachineDescription& machine = scenario.machine().description();
  std::string text = fmt::format("{}: {} tasks, {} of data\n", program.title, program.tasks.size(),
                                 gigabytes(program.bytes()));
  text += fmt::format("{}: {}\n", machine.name, machine.summary);
  text += fmt::format(
      "at best {:.5g} s of computing ({:.0f} GFlop/s), {:.5g} s along the critical path; the bus transfers "
      "{} in that time\n",
      limits.time.compute, limits.gflops_at_best(), limits.time.critical_path,
      gigabytes(limits.bus_limit_bytes));
  if (limits.io)
    text += fmt::format("loads: at least {} (lower bound); {} is the floor that schedules approach\n",
                        gigabytes(limits.io->lower_bound()), gigabytes(limits.io->floor_read()));
  return text;
}

std::string automatic_policy_text(const Scenario& scenario) {
  const std::string_view too_small = insufficient_memory(scenario.program(), scenario.machine());
  return fmt::format("auto is {} here, as in a real run: the data {}{}",
                     scenario.policy_name(std::string(automatic)),
                     too_small.empty() ? "fit in each memory" : "do not fit in ", too_small);
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

std::string workloads_text() {
  std::string text;
  for (const Workload& workload : workloads()) {
    text += fmt::format("{:<12}{}\n", workload.name, workload.summary);
    for (const PolicyOption& option : workload.options)
      text += fmt::format("  {:<26}{}\n", fmt::format("{}={}", option.name, option.default_value),
                          option.summary);
  }
  return text +
         "\nOver several ranks there are cholesky, lu, gemm, stencil, and pingpong, which sends a value of n "
         "elements back and forth between two ranks, :hops=100 times\n"
         "\nOptions follow the name: fairlead simulate NAME:OPTION=VALUE:OPTION=VALUE\n";
}

}  // namespace fairlead::simulate
