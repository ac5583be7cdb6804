// The positions of tasks in the chart: the tile that a task writes, and the memory node where it ran.
#include "simulate/task_order.hpp"

#include <algorithm>
#include <span>

namespace fairlead::simulate {

namespace {

/// The datum of the matrix that a task writes; of several the last, which is the task's main one ("the tile below" in a
/// QR factorization's kernels). Null if there is none.
const ProgramDatum* written_in(const Program& program, std::int16_t matrix,
                               std::span<const ProgramUse> uses) {
  const ProgramDatum* written = nullptr;
  for (const ProgramUse& use : uses) {
    const ProgramDatum& datum = program.data[static_cast<std::size_t>(use.datum)];
    if (writes(use.mode) && datum.collection == matrix && datum.row >= 0 && datum.column >= 0)
      written = &datum;
  }
  return written;
}

/// The matrix that most tasks write.
std::int16_t matrix_of(const Program& program) {
  std::vector<std::size_t> writers(std::max<std::size_t>(program.collections.size(), 1));
  for (std::size_t i = 0; i < writers.size(); ++i)
    program.for_each_task([&](const ProgramTask&, std::span<const ProgramUse> uses) {
      writers[i] += written_in(program, static_cast<std::int16_t>(i), uses) != nullptr;
    });
  return static_cast<std::int16_t>(std::ranges::max_element(writers) - writers.begin());
}

/// The workers of one memory node count as one device: the streams of a GPU, or all cores.
std::vector<NodeId> nodes_with_workers(const Topology& topology) {
  std::vector<NodeId> nodes;
  for (const WorkerSpec& worker : topology.workers)
    if (std::ranges::find(nodes, worker.node) == nodes.end()) nodes.push_back(worker.node);
  return nodes;
}

}  // namespace

report::TaskOrder task_places(const Program& program, const SimulatedMachine& machine) {
  report::TaskOrder order;
  order.kernels = program.kernels;
  const std::int16_t matrix = matrix_of(program);
  program.for_each_task([&](const ProgramTask& task, std::span<const ProgramUse> uses) {
    report::TaskOrder::Place place{static_cast<std::uint16_t>(task.kernel), task.iteration, -1, -1};
    if (const ProgramDatum* written = written_in(program, matrix, uses)) {
      place.row = written->row;
      place.column = written->column;
    }
    order.tasks.push_back(place);
  });
  if (std::ranges::none_of(order.tasks, &report::TaskOrder::Place::drawn)) return {};
  order.matrix = program.collections[static_cast<std::size_t>(matrix)];
  order.lower_triangle = true;
  Bytes tile = 1;
  for (const ProgramDatum& datum : program.data) {
    if (datum.collection != matrix) continue;
    order.rows = std::max(order.rows, datum.row + 1);
    order.columns = std::max(order.columns, datum.column + 1);
    order.lower_triangle = order.lower_triangle && datum.column <= datum.row;
    tile = std::max(tile, datum.bytes);
  }
  order.memory_tiles = machine.memory() / tile;
  for (const NodeId node : nodes_with_workers(machine.topology())) {
    const std::string& name = machine.topology().nodes[index(node)].name;
    order.devices.push_back(machine.topology().has_kind(node, MemoryKind::host) ? "cores" : name);
  }
  return order;
}

void add_order(report::TaskOrder& to, const SimulatedMachine& machine, const std::string& scheduler,
               const SimulationResult& result) {
  if (to.rows == 0) return;
  const std::vector<NodeId> nodes = nodes_with_workers(machine.topology());
  report::TaskOrder::Run& run = to.runs.emplace_back();
  run.scheduler = scheduler;
  run.order.reserve(result.order.size());
  for (const TaskRun& task : result.order) {
    const NodeId node = machine.topology().workers[index(task.worker)].node;
    run.order.push_back(
        {task.task, static_cast<std::uint16_t>(std::ranges::find(nodes, node) - nodes.begin())});
  }
}

}  // namespace fairlead::simulate
