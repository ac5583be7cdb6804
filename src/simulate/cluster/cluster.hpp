// A graph on several simulated ranks. Each rank is a complete simulated machine with its own engine, memory and policy.
// They use the protocol of real runs over a simulated network, in one virtual time.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "front/ranks/receive_placement.hpp"
#include "machine/description.hpp"
#include "net/protocol.hpp"
#include "simulate/advice.hpp"
#include "simulate/cluster/blueprint.hpp"
#include "simulate/cluster/fabric.hpp"
#include "simulate/machine.hpp"

namespace fairlead::simulate {

/// The settings of one run on simulated ranks.
struct ClusterOptions {
  std::string policy;  ///< of each rank
  std::uint64_t seed = 1;
  unsigned noise_percent = 0;
  std::size_t pipeline_depth = 0;  ///< 0: chosen by the engine
  Advice advice = Advice::none;    ///< the device of its rank on which a tile is advised to be placed
  net::Protocol protocol{};        ///< the default is that of the DAGuE paper
  front::ReceivePlacement landing = front::ReceivePlacement::host;  ///< where values of other ranks arrive
  /// Any thread may set it; simulate() then throws SimulationStopped.
  const std::atomic<bool>* stop_requested = nullptr;
};

/// The measurements of one rank.
struct RankResult {
  std::uint64_t tasks = 0;
  // Sums over the rank's workers, until the last task of any rank has finished.
  double computing_seconds = 0;
  double waiting_for_network_seconds = 0;  ///< while a requested value is in flight
  double waiting_for_others_seconds = 0;   ///< for tasks of this or other ranks, and at the end
  InterfaceTraffic crossed;
  net::NetworkTraffic traffic;
  /// Tasks examined to find out whether and where they run; many more than once.
  std::uint64_t tasks_examined = 0;
  Bytes peak_memory = 0;
  std::uint64_t evictions = 0;
  std::uint64_t to_disk = 0;                                                      ///< evictions from RAM
  Bytes bytes_to_devices = 0, bytes_from_devices = 0, bytes_between_devices = 0;  ///< copied by the rank
  std::uint64_t digest = 0;  ///< hash of all commands of its engine
};

struct ClusterResult {
  double seconds = 0;  ///< until the last task has finished
  double flops = 0;
  double compute_bound_seconds = 0;  ///< with all workers of all ranks always busy with their fastest kernels
  std::vector<RankResult> ranks;
  std::uint64_t tasks = 0, events = 0, tasks_examined = 0;  ///< sums over the ranks
  std::uint64_t digest = 0;                                 ///< hash over the ranks
  double simulation_seconds = 0;                            ///< real time

  double gflops() const noexcept { return flops / seconds * 1e-9; }
  double percent_of_peak() const noexcept { return 100 * compute_bound_seconds / seconds; }
  /// 0 if nothing is computed.
  double gflops_at_best() const noexcept {
    return compute_bound_seconds > 0 ? flops / compute_bound_seconds * 1e-9 : 0;
  }
  net::NetworkTraffic traffic() const noexcept;
};

/// Throws ConfigError if the machine has too few nodes, or if a node's memory cannot hold its part of the matrix and
/// the machine has no disk. Throws Error if the run does not finish.
ClusterResult simulate(const Blueprint& blueprint, const machine::MachineDescription& machine,
                       MachineConfig use, const ClusterOptions& options);

}  // namespace fairlead::simulate
