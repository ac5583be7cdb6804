// The machine, the data and the tasks as policies see them.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "engine/pipelines.hpp"
#include "engine/task_durations.hpp"
#include "machine/topology.hpp"
#include "memory/memory.hpp"
#include "policy/view.hpp"
#include "policy/what_if_simulation.hpp"

namespace fairlead::engine {

/// References state that other parts own; owns the constant facts, the time and the random numbers. Under the engine's
/// lock, except the constant facts.
class EngineView final : public View {
 public:
  EngineView(const Topology& topology, const memory::Memory& memory, const Pipelines& pipelines,
             const TaskDurations& durations, std::uint64_t seed);

  std::span<const WorkerInfo> workers() const override { return workers_; }
  std::span<const NodeInfo> nodes() const override { return nodes_with_workers_; }
  /// All bounded memories, including those that only pass copies on.
  std::span<const NodeInfo> caches() const noexcept { return caches_; }
  /// The memory node where the program uses data: user memory.
  NodeId host() const noexcept { return host_; }
  WorkerKind kind_of(WorkerId worker) const noexcept { return workers_[index(worker)].kind; }
  NodeId node_of(WorkerId worker) const noexcept { return workers_[index(worker)].node; }

  Time now() const override { return now_; }
  /// Monotonic, whatever the order in which events are served.
  void advance(Time at) noexcept { now_ = std::max(now_, at); }
  Random& random() override { return random_; }
  bool can_run(const Task& task, WorkerId worker) const override;
  Duration estimate(const Task& task, WorkerId worker) const override {
    return durations_.estimate(task, worker);
  }
  bool is_estimate_reliable(const Task& task, WorkerId worker) const override {
    return durations_.known(task, worker);
  }
  Bytes bytes(DatumId id) const override { return memory_.datum(id).bytes; }
  ReplicaState residency(DatumId id, NodeId node) const override { return memory_.residency(id, node); }
  bool has_newest(DatumId id, NodeId node) const override { return memory_.state().has_newest(id, node); }
  Duration transfer_time(DatumId id, NodeId node) const override {
    return memory_.state().transfer_time(id, node);
  }
  Duration transfer_time(Bytes bytes, NodeId from, NodeId to) const override;
  Duration transfer_time_to_all(Bytes bytes, std::span<const NodeId> to) const override {
    return memory_.topology().scatter_time(bytes, host_, to);
  }
  std::uint32_t distance(WorkerId a, WorkerId b) const override;
  void pipeline(NodeId node, std::vector<const Task*>& out) const override;
  Coordinates coordinates(DatumId id) const override { return memory_.datum(id).coordinates; }
  Extent extent(std::int32_t collection) const override { return memory_.state().data.extent(collection); }
  int advice(DatumId id) const override { return memory_.datum(id).advice; }
  WhatIfSimulation* what_if_simulation() const override { return what_if_; }
  bool is_simulation_running() const noexcept { return what_if_ != nullptr && what_if_->is_running(); }
  /// Set before a policy uses the view.
  void set_what_if_simulation(WhatIfSimulation* simulation) noexcept { what_if_ = simulation; }

 private:
  const memory::Memory& memory_;
  const Pipelines& pipelines_;
  const TaskDurations& durations_;
  std::vector<WorkerInfo> workers_;
  std::vector<NodeInfo> caches_, nodes_with_workers_;
  NodeId host_ = no_id<NodeId>;
  WhatIfSimulation* what_if_ = nullptr;
  Time now_{};
  Random random_;
};

}  // namespace fairlead::engine
