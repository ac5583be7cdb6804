// The queries of policies, answered from the engine's state.
#include "engine/engine_view.hpp"

#include <fairlead/codelet_info.hpp>

namespace fairlead::engine {

namespace {
/// The memory node of the program's data.
NodeId host_of(const Topology& topology) {
  NodeId first = no_id<NodeId>, reaching = no_id<NodeId>;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const NodeSpec& node = topology.nodes[i];
    if (node.role != NodeRole::cache) continue;
    if (first == no_id<NodeId>) first = static_cast<NodeId>(i);
    if (reaching == no_id<NodeId> && !node.directly_accessible_homes.empty())
      reaching = static_cast<NodeId>(i);
  }
  return reaching == no_id<NodeId> ? first : reaching;
}
}  // namespace

EngineView::EngineView(const Topology& topology, const memory::Memory& memory, const Pipelines& pipelines,
                       const TaskDurations& durations, std::uint64_t seed)
    : memory_(memory), pipelines_(pipelines), durations_(durations), host_(host_of(topology)), random_(seed) {
  for (std::size_t i = 0; i < topology.workers.size(); ++i)
    workers_.push_back({static_cast<WorkerId>(i), topology.workers[i].kind, topology.workers[i].node});
  for (std::size_t i = 0; i < topology.nodes.size(); ++i)
    if (topology.nodes[i].role == NodeRole::cache)
      caches_.push_back({static_cast<NodeId>(i), topology.nodes[i].capacity});
  for (const NodeInfo& node : caches_)
    if (std::ranges::find(workers_, node.id, &WorkerInfo::node) != workers_.end())
      nodes_with_workers_.push_back(node);
}

bool EngineView::can_run(const Task& task, WorkerId worker) const {
  const WorkerInfo& it = workers_[index(worker)];
  return ((task.codelet->kinds >> static_cast<unsigned>(it.kind)) & 1u) != 0 &&
         ((task.nodes_excluded >> index(it.node)) & 1u) == 0;
}

Duration EngineView::transfer_time(Bytes bytes, NodeId from, NodeId to) const {
  return from == to ? Duration{} : memory_.routes().between(from, to).time(bytes);
}

std::uint32_t EngineView::distance(WorkerId a, WorkerId b) const {
  const NodeId from = node_of(a), to = node_of(b);
  const std::vector<WorkerSpec>& workers = memory_.topology().workers;
  if (from == to) return domain_distance(workers[index(a)], workers[index(b)]);
  const memory::Route& route = memory_.routes().between(from, to);
  return route.exists() && route.through == no_id<NodeId> ? next_node : indirect_node;
}

void EngineView::pipeline(NodeId node, std::vector<const Task*>& out) const {
  out.clear();
  for (const WorkerInfo& worker : workers_) {
    if (worker.node != node) continue;
    const PickedTasks& tasks = pipelines_[worker.id].tasks;
    for (std::size_t i = 0; i < tasks.size(); ++i) out.push_back(&tasks[i]);
  }
}

}  // namespace fairlead::engine
