// Builds a script in one pass over the tasks, because the engine's lock is held and blocks all workers.
#include "front/what_if/simulation_input.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

namespace fairlead::front {

namespace {

/// Durations were measured while all workers computed, so they include the effect of shared processors.
Topology as_known(Topology topology) {
  topology.shared = {};
  return topology;
}

}  // namespace

SimulationInput::SimulationInput(const memory::Memory& memory, const View& view, std::span<Task* const> tasks)
    : topology_(as_known(memory.topology())), more_follow_(memory.flushes().early().more_follow()) {
  std::vector<WorkerId> different;
  for (const WorkerInfo& worker : view.workers()) {
    const auto same = [&](WorkerId other) {
      const WorkerInfo& it = view.workers()[index(other)];
      return it.kind == worker.kind && it.node == worker.node;
    };
    const auto found = std::ranges::find_if(different, same);
    class_of_worker_.push_back(static_cast<std::uint32_t>(found - different.begin()));
    if (found == different.end()) different.push_back(worker.id);
  }
  classes_ = different.size();

  std::map<std::pair<const CodeletInfo*, std::uint32_t>, const CodeletInfo*>
      codelets;  // by codelet and kinds of workers
  std::unordered_map<std::uint64_t, std::uint32_t> places;
  const auto place_of = [&](DatumId id) {
    const auto [at, is_new] = places.try_emplace(index(id), static_cast<std::uint32_t>(data_.size()));
    if (is_new) {
      const memory::Datum& datum = memory.datum(id);
      SimulatedDatumRecord& known = data_.emplace_back(SimulatedDatumRecord{
          datum.bytes, datum.home.node, datum.coordinates, datum.advice, 0, datum.dirty()});
      for (const memory::Replica* one = datum.cached; one != nullptr; one = one->next_of_datum)
        // Copies in flight count as not done: of a long queue of copies, most have not started.
        if (one->state == ReplicaState::valid && one->version != 0 && one->version == datum.version)
          known.valid_nodes |= std::uint32_t{1} << index(one->node);
    }
    return at->second;
  };
  std::unordered_map<const Task*, NodeId> given;
  std::vector<const Task*> of_node;
  for (const NodeInfo& node : view.nodes()) {
    view.pipeline(node.id, of_node);
    for (const Task* task : of_node) given.emplace(task, node.id);
  }
  lines_.reserve(tasks.size());
  uses_.reserve(3 * tasks.size());
  estimates_.reserve(classes_ * tasks.size());
  for (const Task* task : tasks) {
    std::uint32_t kinds = 0, nodes = 0;
    for (const WorkerId worker : different)
      if (view.can_run(*task, worker)) {
        const WorkerInfo& info = view.workers()[index(worker)];
        kinds |= std::uint32_t{1} << static_cast<unsigned>(info.kind);
        nodes |= std::uint32_t{1} << index(info.node);
      }
    const CodeletInfo*& codelet = codelets[{task->codelet, kinds}];
    if (codelet == nullptr) {
      CodeletInfo& copy = codelets_.emplace_back();
      copy.name = task->codelet->name;
      copy.kinds = kinds;
      codelet = &copy;
    }
    SimulatedTaskRecord& line =
        lines_.emplace_back(SimulatedTaskRecord{.codelet = codelet,
                                                .first_use = static_cast<std::uint32_t>(uses_.size()),
                                                .uses = task->access_count,
                                                .device = task->place.device,
                                                .priority = task->priority,
                                                .work = task->work});
    const auto is_left_out = [&](WorkerId worker) {
      const unsigned kind = static_cast<unsigned>(view.workers()[index(worker)].kind);
      return ((kinds >> kind) & 1u) != 0 && !view.can_run(*task, worker);
    };
    if (std::has_single_bit(nodes) && std::ranges::any_of(different, is_left_out))
      line.required_node = static_cast<NodeId>(std::countr_zero(nodes));
    if (const auto found = given.find(task); found != given.end()) line.assigned_node = found->second;
    // Partial results are not simulated: reductions on one datum run one after another.
    for (const Access& access : task->accesses())
      uses_.push_back({place_of(access.datum),
                       access.mode == AccessMode::reduction ? AccessMode::commutative : access.mode});
    Duration least = Duration::max();
    for (const WorkerId worker : different) {
      estimates_.push_back(view.can_run(*task, worker) ? view.estimate(*task, worker) : Duration::max());
      least = std::min(least, estimates_.back());
    }
    line.shortest_duration = least == Duration::max() ? Duration{} : least;
  }
}

}  // namespace fairlead::front
