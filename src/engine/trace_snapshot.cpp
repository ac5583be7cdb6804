// Adds the names of workers, nodes, links and data to the engine's trace.
#include "engine/trace_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/engine.hpp"

namespace fairlead::engine {

namespace {

/// "worker 3"; if workers are on several nodes, "device 0 worker 3", numbered per node.
std::vector<std::string> worker_names(const Topology& topology) {
  const bool one_node = std::ranges::all_of(topology.workers, [&](const WorkerSpec& worker) {
    return worker.node == topology.workers.front().node;
  });
  std::vector<std::string> names;
  std::vector<std::size_t> seen(topology.nodes.size());
  for (const WorkerSpec& worker : topology.workers) {
    const std::size_t number = seen[index(worker.node)]++;
    names.push_back(one_node ? fmt::format("worker {}", number)
                             : fmt::format("{} worker {}", topology.nodes[index(worker.node)].name, number));
  }
  return names;
}

}  // namespace

trace::Snapshot trace_snapshot(Engine& engine, const std::function<std::string(DatumId)>& name_of) {
  return engine.locked([&](memory::Memory& memory) {
    trace::Snapshot result;
    if (engine.journal().tracer() != nullptr) result = engine.journal().tracer()->snapshot();
    result.memory_limit = engine.options().trace_memory;
    const Topology& topology = memory.topology();
    result.workers = worker_names(topology);
    for (const NodeSpec& node : topology.nodes)
      result.nodes.push_back({node.name, node.role == NodeRole::cache ? node.capacity : 0});
    for (const LinkSpec& link : topology.links) result.links.push_back({link.name, link.first, link.second});

    result.data.resize(memory.state().data.size());
    const auto name = [&](DatumId id) {
      trace::Snapshot::Datum& datum = result.data[index(id)];
      if (!datum.name.empty()) return;
      datum.name = name_of ? name_of(id) : fmt::format("datum {}", index(id));
      datum.bytes = memory.datum(id).bytes;
    };
    for (const trace::TaskRecord& task : result.tasks)
      for (std::size_t i = 0; i < task.kept(); ++i) name(task.data[i]);
    for (const trace::CopyRecord& copy : result.copies) name(copy.datum);
    return result;
  });
}

}  // namespace fairlead::engine
