// A graph on several simulated ranks: each a whole simulated machine with an engine, memory and policy of its own, which
// speak by the protocol of real runs over a simulated network. All in one virtual time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "front/ranks/landing.hpp"
#include "machine/description.hpp"
#include "net/protocol.hpp"
#include "simulate/advice.hpp"
#include "simulate/cluster/blueprint.hpp"
#include "simulate/cluster/fabric.hpp"
#include "simulate/machine.hpp"

namespace fairlead::simulate {

struct ClusterOptions {
  std::string policy;  ///< of each rank
  std::uint64_t seed = 1;
  unsigned noise_percent = 0;
  std::size_t pipeline_depth = 0;                 ///< 0: chosen by the engine
  Advice advice = Advice::none;                   ///< on which device of its rank a tile should live
  net::Protocol protocol{};                       ///< as it is: that of DAGuE's paper
  front::Landing landing = front::Landing::host;  ///< where values of other ranks land
};

struct RankResult {
  std::uint64_t tasks = 0;
  // Of all its workers together, until the last task of any rank is over.
  double computing_seconds = 0;
  double waiting_for_network_seconds = 0;  ///< for what was asked for and on its way
  double waiting_for_others_seconds = 0;   ///< for tasks of its own or of others, and at the end
  Crossed crossed;
  net::Traffic traffic;
  std::uint64_t looked_at =
      0;  ///< tasks, to find out whether and where they run; many of them more than once
  Bytes peak_memory = 0;
  std::uint64_t evictions = 0;
  std::uint64_t to_disk = 0;                                                      ///< evictions from RAM
  Bytes bytes_to_devices = 0, bytes_from_devices = 0, bytes_between_devices = 0;  ///< copied by the rank
  std::uint64_t digest = 0;  ///< of all that its engine commanded
};

struct ClusterResult {
  double seconds = 0;  ///< until the last task is over
  double flops = 0;
  double compute_bound_seconds = 0;  ///< all workers of all ranks always at their best
  std::vector<RankResult> ranks;
  std::uint64_t tasks = 0, events = 0, looked_at = 0;  ///< of all ranks
  std::uint64_t digest = 0;                            ///< of all ranks'
  double simulation_seconds = 0;                       ///< of real time

  double gflops() const noexcept { return flops / seconds * 1e-9; }
  double percent_of_peak() const noexcept { return 100 * compute_bound_seconds / seconds; }
  /// 0 where nothing is computed.
  double gflops_at_best() const noexcept {
    return compute_bound_seconds > 0 ? flops / compute_bound_seconds * 1e-9 : 0;
  }
  net::Traffic traffic() const noexcept;
};

/// Throws ConfigError if the machine has too few nodes, or a node's memory does not hold its part of the matrix and the
/// machine has no disk; Error if the run does not finish.
ClusterResult simulate(const Blueprint& blueprint, const machine::MachineDescription& machine, MachineUse use,
                       const ClusterOptions& options);

}  // namespace fairlead::simulate
