// What one of several simulated ranks does: it registers its tiles, and runs the graph.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "engine/runtime_core.hpp"
#include "net/communicator.hpp"
#include "simulate/cluster/blueprint.hpp"
#include "simulate/cluster/cluster.hpp"
#include "simulate/cluster/rank_time.hpp"
#include "simulate/cluster/rank_world.hpp"
#include "simulate/machine.hpp"

namespace fairlead::simulate {

/// Made, run and destroyed by the rank's thread in its turn.
class RankProgram {
 public:
  RankProgram(const Blueprint& blueprint, const SimulatedMachine& machine, const ClusterOptions& options,
              Turns& turns, std::shared_ptr<net::Network> network, RankTime& time);
  /// Throws what the graph's run throws; the other ranks hear of it.
  void run();
  /// But for what the network has counted.
  RankResult result() const;
  std::uint64_t events() const noexcept { return world_.events(); }
  double flops() const noexcept { return flops_; }
  /// Each of its tasks on the worker that does it soonest.
  Duration least() const noexcept { return least_; }

 private:
  backend::SimOptions sim_options(Turns& turns);
  engine::CoreOptions core_options() const;
  ProgramTask program_task(const Task& task) const;
  ptg::ClassTable classes();
  std::shared_ptr<const ptg::CollectionDefinition> tiles(const ptg::CollectionDefinition& of);
  engine::RegisteredDatum& add(Bytes bytes, const View::Coordinates& coordinates);

  const Blueprint& blueprint_;
  const SimulatedMachine& machine_;
  const ClusterOptions& options_;
  RankTime& time_;
  const std::uint32_t own_;
  std::deque<engine::RegisteredDatum> data_;
  std::deque<TileHandle> fresh_;
  double flops_ = 0;
  Duration least_{};
  std::uint64_t looked_at_ = 0;
  RankWorld world_;
  engine::RuntimeCore core_;
  net::Communicator communicator_;
  Bytes used_ = 0;  // of the place where data are when they are not in memory
};

}  // namespace fairlead::simulate
