// Executes one run on several simulated ranks.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>

#include "backend/sim/timeline.hpp"
#include "config/value.hpp"
#include "experiment/run.hpp"
#include "machine/machine_files.hpp"
#include "simulate/cluster/cluster.hpp"
#include "simulate/cluster/part_of_node.hpp"
#include "simulate/default_policy.hpp"

namespace fairlead::experiment {

using namespace fairlead::simulate;

namespace {

/// Panel kernels: unlike products, their rates in the machine file are assumptions.
bool is_panel(std::string_view kernel) { return kernel == "potrf" || kernel == "getrf" || kernel == "trsm"; }

machine::MachineDescription changed(machine::MachineDescription machine, const RunSpec& spec) {
  machine::LinkDescription& wire = machine.network.link;
  wire.bytes_per_second.out *= spec.network_bandwidth_times;
  wire.bytes_per_second.in *= spec.network_bandwidth_times;
  wire.latency =
      Duration(std::llround(static_cast<double>(wire.latency.count()) * spec.network_latency_times));
  for (machine::ProcessorDescription& processor : machine.processors)
    for (machine::KernelRate& rate : processor.rates)
      if (is_panel(rate.kernel)) rate.flops_per_second *= spec.panel_rates_times;
  return machine;
}

CyclicMap grid_of(const RunSpec& spec) {
  if (spec.grid.empty()) return Distribution::grid_of(spec.ranks);
  const std::optional<CyclicMap> grid = grid_in(spec.grid);
  if (!grid || static_cast<std::uint32_t>(grid->rank_rows * grid->rank_columns) != spec.ranks)
    throw ConfigError(fmt::format("the grid \"{}\" of an experiment is not one of {} ranks, as 2x3 is of 6",
                                  spec.grid, spec.ranks));
  return *grid;
}

}  // namespace

double percent_of_gemm_peak(const machine::MachineDescription& machine, std::size_t cores,
                            Precision precision, double gflops) noexcept {
  const auto core =
      std::ranges::find(machine.processors, machine.core_processor, &machine::ProcessorDescription::name);
  if (core == machine.processors.end() || cores == 0) return 0;
  const machine::KernelRate* const gemm = core->rate_of("gemm", name_of(precision));
  if (gemm == nullptr) return 0;
  const double best = gemm->by_side.empty() ? gemm->flops_per_second : gemm->by_side.back().second;
  return 100 * gflops * 1e9 / (best * static_cast<double>(cores));
}

Figures run_on_ranks(const RunSpec& spec, const std::atomic<bool>* stop_requested) {
  const auto say = [](const char* what) {
    throw ConfigError(fmt::format("the setting {} of an experiment is not there with ranks", what));
  };
  if (!spec.slow.empty()) say("slow");
  if (!spec.misjudged.empty()) say("misjudged");
  if (!spec.memory_model.empty()) say("memory_model");
  const machine::MachineDescription machine =
      part_of_node(changed(machine::load_machine(spec.machine), spec), spec.ranks_per_node);
  const WorkloadSize size{.n = spec.n,
                          .tile = spec.tile,
                          .precision = spec.precision == "single" ? Precision::single : Precision::double_};
  const MachineConfig use = use_of(spec, machine);
  ClusterOptions options;
  options.policy = spec.scheduler == automatic ? automatic_policy_of_ranks(use, machine) : spec.scheduler;
  options.seed = spec.seed;
  options.noise_percent = spec.noise_percent;
  options.advice = advice_of(spec);
  options.pipeline_depth = spec.pipeline_depth;
  options.stop_requested = stop_requested;
  options.landing = front::landing_in(spec.receive_into).value_or(front::ReceivePlacement::host);
  if (!spec.eager_limit.empty()) {
    const std::optional<Bytes> limit = config::parse_size(spec.eager_limit);
    if (!limit)
      throw ConfigError(
          fmt::format("the setting eager_limit of an experiment is \"{}\", and no size", spec.eager_limit));
    options.protocol.eager_bytes = *limit;
    options.protocol.credit_bytes = std::max(options.protocol.credit_bytes, 2 * *limit);
  }
  const Blueprint blueprint(spec.workload, size, grid_of(spec));
  Figures figures;
  ClusterResult result;
  try {
    result = simulate::simulate(blueprint, machine, use, options);
  } catch (const ConfigError&) {
    throw;
  } catch (const backend::SimulationStopped&) {
    throw;
  } catch (const Error& error) {
    figures.problem = error.what();
    return figures;
  }
  figures.finished = true;
  figures.seconds = result.seconds;
  figures.gflops = result.gflops();
  figures.percent_of_peak = result.percent_of_peak();
  figures.best_gflops = result.gflops_at_best();
  const std::size_t cores = use.cores.value_or(machine.cores) * spec.ranks;
  figures.percent_of_gemm_peak = percent_of_gemm_peak(machine, cores, size.precision, figures.gflops);
  const auto of_all = [&](Bytes RankResult::*bytes) {
    double sum = 0;
    for (const RankResult& rank : result.ranks) sum += static_cast<double>(rank.*bytes);
    return sum * 1e-9;
  };
  figures.gigabytes_to_devices = of_all(&RankResult::bytes_to_devices);
  figures.gigabytes_from_devices = of_all(&RankResult::bytes_from_devices);
  figures.gigabytes_between_devices = of_all(&RankResult::bytes_between_devices);
  figures.gigabytes_sent = static_cast<double>(result.traffic().payload_bytes) * 1e-9;
  return figures;
}

}  // namespace fairlead::experiment
