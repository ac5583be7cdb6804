// What one of several simulated ranks does: it registers its tiles, and runs the graph.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "engine/runtime_core.hpp"
#include "net/communicator.hpp"
#include "simulate/cluster/blueprint.hpp"
#include "simulate/cluster/cluster.hpp"
#include "simulate/cluster/fabric.hpp"
#include "simulate/cluster/interface_wires.hpp"
#include "simulate/cluster/rank_time.hpp"
#include "simulate/cluster/rank_world.hpp"
#include "simulate/machine.hpp"

namespace fairlead::simulate {

/// Made, run and destroyed by the rank's thread in its turn.
class RankProgram {
 public:
  /// `serving_core`: of the machine's workers the core does only what takes no time.
  RankProgram(const Blueprint& blueprint, const SimulatedMachine& machine, bool serving_core,
              const ClusterOptions& options, Turns& turns, Fabric& fabric, std::uint32_t own, RankTime& time);
  ~RankProgram() { fabric_.put_behind(net::RankId{own_}, nullptr); }
  RankProgram(const RankProgram&) = delete;
  RankProgram& operator=(const RankProgram&) = delete;
  /// Throws what the graph's run throws; the other ranks hear of it.
  void run();
  /// But for what the network has counted.
  RankResult result() const;
  std::uint64_t events() const noexcept { return world_.events(); }
  const Work& work() const noexcept { return work_; }

 private:
  /// What a task of a class runs here: the graph's codelet, on the workers that the machine says can run it.
  struct Body {
    ptg::Maker of_graph;
    CodeletInfo codelet;
  };
  backend::SimOptions sim_options(Turns& turns);
  std::shared_ptr<const ptg::ClassDefinition> on_machine(const ptg::TableClass& of, std::size_t task_class);
  engine::CoreOptions core_options() const;
  /// The worker does nothing but pass on.
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
  Fabric& fabric_;
  RankTime& time_;
  const std::uint32_t own_;
  const bool serving_core_;
  std::deque<engine::RegisteredDatum> data_;
  std::deque<Body> bodies_;
  std::deque<TileHandle> fresh_;
  Work work_;
  std::uint64_t looked_at_ = 0;
  RankWorld world_;
  InterfaceWires wires_;
  engine::RuntimeCore core_;
  net::Communicator communicator_;
  std::size_t collections_ = 0;
  Bytes used_ = 0;  // of the place where data are when they are not in memory
};

}  // namespace fairlead::simulate
