// Executes one run, and lists the runs of an experiment.
#include "experiment/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <utility>

#include "base/suggest.hpp"
#include "config/value.hpp"
#include "machine/machine_files.hpp"
#include "simulate/comparison.hpp"
#include "simulate/default_policy.hpp"
#include "simulate/run_outcome.hpp"

namespace fairlead::experiment {

namespace {

using namespace fairlead::simulate;

Bytes size_of(const std::string& text) {
  const std::optional<Bytes> size = config::parse_size(text);
  if (!size) throw ConfigError(fmt::format("\"{}\" is not a size such as 2000MB", text));
  return *size;
}

backend::MemoryModel memory_model_of(const RunSpec& spec) {
  if (spec.memory_model.empty()) return backend::MemoryModel::explicit_copies;
  if (const auto model = backend::find_memory_model(spec.memory_model)) return *model;
  std::vector<std::string_view> names;
  for (const backend::MemoryModelName& one : backend::memory_models) names.push_back(one.name);
  throw ConfigError(fmt::format("there is no memory model \"{}\"{}; there are {}", spec.memory_model,
                                did_you_mean(spec.memory_model, names), fmt::join(names, ", ")));
}

}  // namespace

MachineConfig use_of(const RunSpec& spec, const machine::MachineDescription& machine) {
  MachineConfig use;
  use.devices = spec.gpus;
  const bool devices = uses_devices(use, machine);
  use.cores = spec.cores ? *spec.cores : devices ? 0 : machine.cores;
  use.streams = spec.streams;
  use.memory_model = memory_model_of(spec);
  use.peers = spec.peers != "no";
  if (spec.device_gigabytes_per_second > 0)
    use.device_bytes_per_second = spec.device_gigabytes_per_second * 1e9;
  if (!spec.host_memory.empty()) use.host_memory = size_of(spec.host_memory);
  if (!spec.memory.empty()) (devices ? use.device_memory : use.host_memory) = size_of(spec.memory);
  if (spec.data == "disk" || (spec.data.empty() && !devices && !spec.memory.empty()))
    use.data = DataHome::disk;
  return use;
}

Advice advice_of(const RunSpec& spec) {
  const Advice advice = advice_in(spec.advice);
  if (spec.advice.empty() || advice != Advice::none) return advice;
  throw ConfigError(fmt::format(
      "the advice \"{}\" of an experiment must be cyclic, cyclic-rows or cyclic-matrix-rows", spec.advice));
}

double Figures::of(Metric metric) const noexcept {
  switch (metric) {
    case Metric::seconds:
      return seconds;
    case Metric::gflops:
      return gflops;
    case Metric::percent_of_peak:
      return percent_of_peak;
    case Metric::gigabytes_to_devices:
      return gigabytes_to_devices;
    case Metric::gigabytes_from_devices:
      return gigabytes_from_devices;
    case Metric::gigabytes_between_devices:
      return gigabytes_between_devices;
    case Metric::gigabytes_moved:
      return gigabytes_to_devices + gigabytes_from_devices + gigabytes_between_devices;
    case Metric::gigabytes_from_disk:
      return gigabytes_from_disk;
    case Metric::percent_of_gemm_peak:
      return percent_of_gemm_peak;
    case Metric::gigabytes_sent:
      return gigabytes_sent;
  }
  return 0;
}

namespace {

/// Simulates one run, and passes its inputs and results to f.
template <class F>
void simulate_and_tell(const RunSpec& spec, bool keep_order, const std::atomic<bool>* stop_requested, F&& f) {
  const WorkloadSize size{.n = spec.n,
                          .tile = spec.tile,
                          .precision = spec.precision == "single" ? Precision::single : Precision::double_};
  const Program program = make_workload(spec.workload, size);
  const machine::MachineDescription description = machine::load_machine(spec.machine);
  const SimulatedMachine machine(description, use_of(spec, description), program, size.precision);
  const Limits limits = limits_of(program, machine, &find_workload(spec.workload), size);
  const RunOutcome outcome = outcome_of(
      program, machine, spec.scheduler == automatic ? default_policy_of(program, machine) : spec.scheduler,
      {.advice = advice_of(spec),
       .priorities = spec.priorities == "time" ? Priorities::time : Priorities::program,
       .seed = spec.seed,
       .noise_percent = spec.noise_percent,
       .slow = spec.slow.empty() ? std::vector<Slowdown>() : slowdowns_in(spec.slow),
       .misjudged = spec.misjudged.empty() ? std::vector<EstimateError>() : misjudged_in(spec.misjudged),
       .pipeline_depth = spec.pipeline_depth,
       .keep_order = keep_order,
       .stop_requested = stop_requested});
  f(program, machine, limits, size, outcome);
}

std::size_t cores_of(const Topology& topology) {
  return static_cast<std::size_t>(std::ranges::count(topology.workers, WorkerKind::cpu, &WorkerSpec::kind));
}

Figures figures_of(const Limits& limits, const RunOutcome& outcome) {
  const auto giga = [](auto bytes) { return static_cast<double>(bytes) * 1e-9; };
  Figures figures;
  figures.bus_limit_gigabytes = giga(limits.bus_limit_bytes);
  if (limits.io) {
    figures.lower_bound_gigabytes = giga(limits.io->lower_bound());
    figures.floor_gigabytes = giga(limits.io->floor_read());
  }
  figures.best_gflops = limits.gflops_at_best();
  figures.critical_path_gflops = figures.best_gflops * limits.time.compute / limits.time.critical_path;
  figures.problem = outcome.problem;
  figures.finished = outcome.problem.empty();
  if (!figures.finished) return figures;
  figures.seconds = outcome.result.seconds;
  figures.gflops = simulate::gflops(outcome, limits);
  figures.percent_of_peak = simulate::percent_of_peak(outcome, limits);
  figures.gigabytes_to_devices = giga(outcome.result.bytes_to_devices);
  figures.gigabytes_from_devices = giga(outcome.result.bytes_from_devices);
  figures.gigabytes_between_devices = giga(outcome.result.bytes_between_devices);
  figures.gigabytes_from_disk = giga(outcome.result.bytes_from_disk);
  return figures;
}

}  // namespace

Figures run(const RunSpec& spec, const std::atomic<bool>* stop_requested) {
  if (spec.ranks != 0) return run_on_ranks(spec, stop_requested);
  Figures figures;
  simulate_and_tell(spec, false, stop_requested,
                    [&](const Program&, const SimulatedMachine& machine, const Limits& limits,
                        const WorkloadSize& size, const RunOutcome& outcome) {
                      figures = figures_of(limits, outcome);
                      figures.percent_of_gemm_peak =
                          percent_of_gemm_peak(machine.description(), cores_of(machine.topology()),
                                               size.precision, figures.gflops);
                    });
  return figures;
}

report::Comparison side_by_side(const Experiment& experiment, double x,
                                const std::atomic<bool>* stop_requested) {
  std::optional<report::Comparison> all;
  for (const Line& line : experiment.lines) {
    const RunSpec spec = run_of(experiment, line, x);
    simulate_and_tell(spec, true, stop_requested,
                      [&](const Program& program, const SimulatedMachine& machine, const Limits& limits,
                          const WorkloadSize& size, const RunOutcome& outcome) {
                        if (!all) all = comparison_of(program, machine, limits);
                        add_run(*all, program, machine, limits, size, spec.workload, outcome);
                      });
  }
  return std::move(*all);
}

std::vector<std::vector<RunSpec>> runs_at(const Experiment& experiment, const Line& line, double x,
                                          bool quick) {
  std::vector<std::vector<RunSpec>> runs(quick ? 1 : experiment.seeds);
  for (const double off : quick ? std::vector<double>{0} : experiment.around) {
    RunSpec run = run_of(experiment, line, x + off);
    for (std::vector<RunSpec>& of_seed : runs) {
      of_seed.push_back(run);
      ++run.seed;
    }
  }
  return runs;
}

std::vector<RunSpec> runs_of(const Experiment& experiment, bool quick) {
  std::vector<RunSpec> runs;
  for (const double x : quick ? experiment.quick_values : experiment.values)
    for (const Line& line : experiment.lines)
      for (const std::vector<RunSpec>& of_seed : runs_at(experiment, line, x, quick))
        runs.insert(runs.end(), of_seed.begin(), of_seed.end());
  return runs;
}

}  // namespace fairlead::experiment
