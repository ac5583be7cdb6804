// The program of one simulated rank: registers its tiles and runs the graph.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "engine/runtime_core.hpp"
#include "net/communicator.hpp"
#include "simulate/cluster/blueprint.hpp"
#include "simulate/cluster/cluster.hpp"
#include "simulate/cluster/fabric.hpp"
#include "simulate/cluster/interface_links.hpp"
#include "simulate/cluster/rank_time.hpp"
#include "simulate/cluster/rank_world.hpp"
#include "simulate/machine.hpp"

namespace fairlead::simulate {

/// Constructed, run and destroyed by the rank's thread in its turn.
class RankProgram {
 public:
  /// `serving_core`: the machine's core runs only tasks that take no time.
  RankProgram(const Blueprint& blueprint, const SimulatedMachine& machine, bool serving_core,
              const ClusterOptions& options, RankScheduler& turns, SimulatedNetwork& fabric,
              std::uint32_t own, RankTime& time);
  ~RankProgram() { fabric_.set_interface_links(net::RankId{own_}, nullptr); }
  RankProgram(const RankProgram&) = delete;
  RankProgram& operator=(const RankProgram&) = delete;
  /// Throws what the run of the graph throws, and notifies the other ranks.
  void run();
  /// Without the counters of the network.
  RankResult result() const;
  std::uint64_t events() const noexcept { return world_.events(); }
  const Work& work() const noexcept { return work_; }

 private:
  /// The body of a class's tasks: the graph's codelet, for the workers that the machine has rates for.
  struct Body {
    ptg::Maker of_graph;
    CodeletInfo codelet;
  };
  backend::SimOptions sim_options(RankScheduler& turns);
  std::shared_ptr<const ptg::ClassDefinition> on_machine(const ptg::TableClass& of, std::size_t task_class);
  engine::CoreOptions core_options() const;
  /// True for a worker that only forwards data.
  bool serves(WorkerId worker) const {
    return serving_core_ && machine_.topology().workers[index(worker)].kind == WorkerKind::cpu;
  }
  ProgramTask program_task(const Task& task) const;
  ptg::ClassTable classes();
  std::shared_ptr<const ptg::CollectionDefinition> tiles(const ptg::CollectionDefinition& of);
  engine::RegisteredDatum& add(Bytes bytes, const View::Coordinates& coordinates);

  const Blueprint& blueprint_;
  const SimulatedMachine& machine_;
  const ClusterOptions& options_;
  SimulatedNetwork& fabric_;
  RankTime& time_;
  const std::uint32_t own_;
  const bool serving_core_;
  std::deque<engine::RegisteredDatum> data_;
  std::deque<Body> bodies_;
  std::deque<TileHandle> fresh_;
  Work work_;
  std::uint64_t looked_at_ = 0;
  RankWorld world_;
  InterfaceLinks wires_;
  engine::RuntimeCore core_;
  net::Communicator communicator_;
  std::size_t collections_ = 0;
  Bytes used_ = 0;  // bytes of the node where data are that are not in memory
};

}  // namespace fairlead::simulate
