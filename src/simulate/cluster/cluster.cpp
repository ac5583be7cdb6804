// See cluster.hpp.
#include "simulate/cluster/cluster.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "config/value.hpp"
#include "simulate/cluster/rank_program.hpp"

namespace fairlead::simulate {

namespace {

/// Adds an infinitely fast disk to a machine without one, so that data appear to be in memory from the start. A run
/// that would evict to it is refused.
machine::MachineDescription with_disk(machine::MachineDescription machine) {
  if (machine.disk) return machine;
  machine.disk.emplace().bytes_per_second = 1e18;
  return machine;
}

void check(const Blueprint& blueprint, const machine::MachineDescription& machine, const MachineConfig& use) {
  if (blueprint.ranks() > machine.network.nodes)
    throw ConfigError(fmt::format("the machine {} has {} {}, not {}: a node runs one rank", machine.name,
                                  machine.network.nodes, machine.network.nodes == 1 ? "node" : "nodes",
                                  blueprint.ranks()));
  if (machine.disk) return;
  const Bytes memory = use.host_memory.value_or(machine.memory);
  for (std::uint32_t rank = 0; rank < blueprint.ranks(); ++rank)
    if (const Bytes part = blueprint.bytes_of(rank); part > memory)
      throw ConfigError(fmt::format(
          "rank {}'s part of the matrix, {}, does not fit in the {} of a node of {}, which has no [disk]",
          rank, config::readable_size(part), config::format_size(memory), machine.name));
}

}  // namespace

net::NetworkTraffic ClusterResult::traffic() const noexcept {
  net::NetworkTraffic all;
  for (const RankResult& rank : ranks) {
    all.activates += rank.traffic.activates;
    all.requests += rank.traffic.requests;
    all.credits += rank.traffic.credits;
    all.payloads += rank.traffic.payloads;
    all.payload_bytes += rank.traffic.payload_bytes;
    all.eager += rank.traffic.eager;
    all.eager_bytes += rank.traffic.eager_bytes;
  }
  return all;
}

ClusterResult simulate(const Blueprint& blueprint, const machine::MachineDescription& description,
                       MachineConfig use, const ClusterOptions& options) {
  check(blueprint, description, use);
  const auto begun = std::chrono::steady_clock::now();
  use.data = DataHome::disk;
  const SimulatedMachine computing(with_disk(description), use, blueprint.kernels(),
                                   blueprint.size().precision);
  const std::size_t workers = computing.topology().workers.size();
  // If no core computes, a core still runs the tasks that take no time.
  const bool serving_core = !blueprint.kernels().timeless.empty() &&
                            std::ranges::none_of(computing.topology().workers, [](const WorkerSpec& worker) {
                              return worker.kind == WorkerKind::cpu;
                            });
  if (serving_core) use.cores = 1;
  const SimulatedMachine machine(with_disk(description), use, blueprint.kernels(),
                                 blueprint.size().precision);
  const std::uint32_t ranks = blueprint.ranks();
  backend::Timeline timeline;
  timeline.stop_on(options.stop_requested);
  RankScheduler turns(timeline, ranks);
  std::vector<RankTime> times(ranks, RankTime(workers));
  SimulatedNetwork fabric(
      turns, description.network, ranks,
      [&](std::uint32_t rank, bool more) { times[rank].count_awaited(timeline.now(), more); },
      [&](std::uint32_t rank) { return times[rank].all_compute(); });
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    times[rank].between_tasks([&fabric, rank] { fabric.between_tasks(rank); });
  ClusterResult result;
  result.ranks.resize(ranks);
  Work work;
  const auto program_of = [&](std::size_t i) {
    const auto rank = static_cast<std::uint32_t>(i);
    RankProgram program(blueprint, machine, serving_core, options, turns, fabric, rank, times[i]);
    program.run();
    result.ranks[i] = program.result();
    result.events += program.events();
    work.add(program.work());
  };
  try {
    turns.run(program_of);
  } catch (...) {
    if (options.stop_requested != nullptr && options.stop_requested->load())
      throw backend::SimulationStopped();
    throw;
  }
  Time end{};
  for (const RankTime& time : times) end = std::max(end, time.last_end());
  result.seconds = seconds(end);
  result.flops = work.flops();
  result.compute_bound_seconds = computing.compute_bound(work) / ranks;
  result.events += fabric.events();
  for (std::uint32_t i = 0; i < ranks; ++i) {
    RankResult& rank = result.ranks[i];
    const RankTime& time = times[i];
    rank.computing_seconds = seconds(time.computing());
    rank.waiting_for_network_seconds = seconds(time.waiting_for_network());
    rank.waiting_for_others_seconds = seconds(end - Time{}) * static_cast<double>(workers) -
                                      rank.computing_seconds - rank.waiting_for_network_seconds;
    rank.crossed = fabric.crossed(i);
    result.tasks += rank.tasks;
    result.tasks_examined += rank.tasks_examined;
    result.digest = Random::mix(result.digest ^ rank.digest);
    if (rank.to_disk != 0 && !description.disk)
      throw Error(fmt::format(
          "rank {} needs more memory than its node has, for its part of the matrix and values from other "
          "ranks; and the machine {} has no [disk]",
          i, description.name));
  }
  result.simulation_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return result;
}

}  // namespace fairlead::simulate
