// The figures of a run, and their formatting.
#include "simulate/run_outcome.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include "backend/sim/timeline.hpp"

namespace fairlead::simulate {

namespace {
constexpr double giga = 1e9;

/// Values below one get three significant digits, so that small runs are readable too.
std::string shown(double value, int digits) {
  return value >= 1 || value == 0 ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.3g}", value);
}
}  // namespace

std::string gigabytes(double bytes) { return shown(bytes / giga, 1) + " GB"; }
std::string gigabytes(Bytes bytes) { return gigabytes(static_cast<double>(bytes)); }

Limits limits_of(const Program& program, const SimulatedMachine& machine, const Workload* workload,
                 const WorkloadSize& size) {
  Limits limits{.flops = program.flops(), .time = machine.bounds(program), .bus_limit_bytes = 0, .io = {}};
  limits.bus_limit_bytes = machine.bus_bytes(limits.time.compute);
  if (workload != nullptr && workload->bounds != nullptr && !machine.computes_at_home())
    limits.io = workload->bounds(size, machine.memory_in_all());
  return limits;
}

namespace {
template <class Simulate>
RunOutcome outcome_of_run(const std::string& policy, const SimulationOptions& options, const Simulate& run) {
  RunOutcome outcome{.scheduler = policy, .seed = options.seed, .problem = {}, .result = {}};
  try {
    outcome.result = run();
  } catch (const ConfigError&) {
    throw;
  } catch (const SystemError&) {
    throw;
  } catch (const backend::SimulationStopped&) {
    throw;
  } catch (const Error& error) {
    outcome.problem = error.what();
  }
  return outcome;
}
}  // namespace

RunOutcome outcome_of(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                      const SimulationOptions& options) {
  return outcome_of_run(policy, options, [&] { return simulate(program, machine, policy, options); });
}

RunOutcome outcome_of(const Program& program, const SimulatedMachine& machine, std::unique_ptr<Policy> policy,
                      const std::string& policy_name, const SimulationOptions& options) {
  return outcome_of_run(policy_name, options,
                        [&] { return simulate(program, machine, std::move(policy), options); });
}

double gflops(const RunOutcome& outcome, const Limits& limits) noexcept {
  return limits.flops / outcome.result.seconds * 1e-9;
}

double percent_of_peak(const RunOutcome& outcome, const Limits& limits) noexcept {
  return 100 * limits.time.compute / outcome.result.seconds;
}

Bytes bytes_loaded(const RunOutcome& outcome) noexcept {
  const SimulationResult& result = outcome.result;
  return result.bytes_to_devices != 0 ? result.bytes_to_devices : result.bytes_from_disk;
}

double decision_nanoseconds(const RunOutcome& outcome) noexcept {
  return outcome.result.tasks == 0
             ? 0
             : outcome.result.decision_seconds * 1e9 / static_cast<double>(outcome.result.tasks);
}

Json json(const RunOutcome& outcome, const Limits& limits, const Program& program,
          const SimulatedMachine& machine, const std::string& workload, const WorkloadSize& size) {
  const SimulationResult& result = outcome.result;
  Json row = Json::object();
  row.add("machine", machine.description().name);
  row.add("devices", machine.devices());
  row.add("workload", workload);
  if (size.n > 0) {
    row.add("n", size.n);
    row.add("tile", size.tile);
    row.add("precision", std::string(name_of(size.precision)));
  }
  row.add("scheduler", outcome.scheduler);
  if (!result.active_policy.empty()) row.add("active_scheduler", result.active_policy);
  row.add("seed", outcome.seed);
  row.add("tiles", program.tiles);
  row.add("tasks", program.tasks.size());
  row.add("finished", outcome.problem.empty());
  if (!outcome.problem.empty()) {
    row.add("problem", outcome.problem);
  } else {
    row.add("seconds", result.seconds);
    row.add("gflops", gflops(outcome, limits));
    row.add("percent_of_peak", percent_of_peak(outcome, limits));
    row.add("bytes_to_devices", result.bytes_to_devices);
    row.add("bytes_from_devices", result.bytes_from_devices);
    row.add("bytes_between_devices", result.bytes_between_devices);
    row.add("bytes_from_disk", result.bytes_from_disk);
    row.add("bytes_to_disk", result.bytes_to_disk);
    row.add("evictions", result.evictions);
    row.add("fault_batches", result.fault_batches);
    row.add("stalled_seconds", result.stalled_seconds);
    row.add("events", result.events);
    row.add("decision_nanoseconds_per_task", decision_nanoseconds(outcome));
    row.add("simulation_seconds", result.simulation_seconds);
    row.add("command_digest", fmt::format("{:016x}", result.digest));
  }
  row.add("compute_bound_seconds", limits.time.compute);
  row.add("critical_path_seconds", limits.time.critical_path);
  row.add("gflops_at_best", limits.gflops_at_best());
  row.add("bus_limit_bytes", static_cast<Bytes>(limits.bus_limit_bytes));
  row.add("lower_bound_bytes", limits.io ? Json(limits.io->lower_bound()) : Json());
  row.add("floor_read_bytes", limits.io ? Json(limits.io->floor_read()) : Json());
  row.add("floor_bytes", limits.io ? Json(limits.io->floor()) : Json());
  return row;
}

std::string table_heading(bool devices, std::size_t width) {
  return devices ? fmt::format("{:<{}}{:>10}{:>11}{:>8}{:>12}{:>12}{:>12}{:>10}", "scheduler", width,
                               "seconds", "GFlop/s", "% peak", "to devices", "back", "between", "ns/task")
                 : fmt::format("{:<{}}{:>10}{:>11}{:>8}{:>12}{:>12}{:>10}", "scheduler", width, "seconds",
                               "GFlop/s", "% peak", "from disk", "to disk", "ns/task");
}

std::string table_line(const RunOutcome& outcome, const Limits& limits, bool devices, std::size_t width) {
  const SimulationResult& result = outcome.result;
  if (!outcome.problem.empty())
    return fmt::format("{:<{}}did not finish: {}", outcome.scheduler, width,
                       std::string_view(outcome.problem).substr(0, outcome.problem.find('\n')));
  const std::string first =
      fmt::format("{:<{}}{:>10}{:>11.0f}{:>8.1f}", outcome.scheduler, width, shown(result.seconds, 3),
                  gflops(outcome, limits), percent_of_peak(outcome, limits));
  const std::string last = fmt::format("{:>10.0f}{}", decision_nanoseconds(outcome),
                                       result.active_policy.empty() ? "" : "  took " + result.active_policy);
  return devices ? fmt::format("{}{:>12}{:>12}{:>12}{}", first, gigabytes(result.bytes_to_devices),
                               gigabytes(result.bytes_from_devices), gigabytes(result.bytes_between_devices),
                               last)
                 : fmt::format("{}{:>12}{:>12}{}", first, gigabytes(result.bytes_from_disk),
                               gigabytes(result.bytes_to_disk), last);
}

}  // namespace fairlead::simulate
