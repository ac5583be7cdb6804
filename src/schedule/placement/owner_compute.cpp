// See owner_compute.hpp.
#include "schedule/placement/owner_compute.hpp"

#include <algorithm>

#include "schedule/index/upcoming_reads.hpp"

namespace fairlead::schedule {

void OwnerCompute::attached() {
  for (const NodeInfo& info : view().nodes()) nodes_.emplace_back().id = info.id;
  place_of_worker_.assign(view().workers().size(), 0);
  for (const WorkerInfo& worker : view().workers()) {
    const Place at = place_of(worker.node);
    place_of_worker_[index(worker.id)] = at;
    nodes_[at].workers.push_back(worker.id);
  }
  for (const NodeId id : accelerators(view())) devices_.push_back(place_of(id));
  for (Node& node : nodes_) node.owns = devices_.empty();
  for (const Place device : devices_) nodes_[device].owns = true;
}

OwnerCompute::Place OwnerCompute::place_of(NodeId id) const noexcept {
  return static_cast<Place>(std::ranges::find(nodes_, id, &Node::id) - nodes_.begin());
}

// ---- placement of a task

void OwnerCompute::place(Task& task) {
  find_candidates(task);
  Placed& placed = records_.make(task);
  if (candidates_.empty()) {  // no remaining worker can run it: kept for workers that join later
    charge(placed, 0, {});
    nodes_.front().queue.insert(&task);
    return;
  }
  const Place at = choose(task);
  charge(placed, at, std::ranges::find(candidates_, at, &Candidate::place)->estimate);
  set_owner(task, at);
  nodes_[at].queue.insert(&task);
}

OwnerCompute::Place OwnerCompute::choose(const Task& task) {
  if (const Place owner = owner_of_written_datum(task); owner != no_place) return owner;
  if (const Place wanted = first_touch(task); is_eligible(wanted)) return wanted;
  return place_by_load(task);
}

OwnerCompute::Place OwnerCompute::owner_of_written_datum(const Task& task) const {
  Place best = no_place;
  Bytes most = 0;
  for (const Access& access : task.accesses()) {
    if (!places(access)) continue;
    const Place owner = owners_.of(access.datum);
    if (!is_eligible(owner) || (best != no_place && view().bytes(access.datum) <= most)) continue;
    best = owner;
    most = view().bytes(access.datum);
  }
  return best;
}

OwnerCompute::Place OwnerCompute::place_by_load(const Task& task) {
  for (Candidate& it : candidates_)
    if (const Node& node = nodes_[it.place]; node.owns)
      for (const Access& access : task.accesses())
        if (reads(access.mode) && access.mode != AccessMode::reduction &&
            has_copy_or_owns(access.datum, node))
          it.held += view().bytes(access.datum);
  return rule_.choose(candidates_).place;
}

/// Finds the nodes that have a worker able to run the task. The workers of a node are mostly alike, so the first one
/// represents them.
void OwnerCompute::find_candidates(const Task& task) {
  candidates_.clear();
  for (Place place = 0; place < nodes_.size(); ++place) {
    const Node& node = nodes_[place];
    const auto able = std::ranges::find_if(node.workers, [&](WorkerId w) { return view().can_run(task, w); });
    if (able == node.workers.end()) continue;
    const Duration estimate = view().estimate(task, *able);
    const auto workers = static_cast<std::int64_t>(node.workers.size());
    candidates_.push_back({place, estimate, node.load / workers + estimate, 0});
  }
}

bool OwnerCompute::is_eligible(Place place) const {
  return place != no_place && nodes_[place].owns &&
         std::ranges::find(candidates_, place, &Candidate::place) != candidates_.end();
}

OwnerCompute::Place OwnerCompute::device(int number) const {
  return number >= 0 && static_cast<std::size_t>(number) < devices_.size()
             ? devices_[static_cast<std::size_t>(number)]
             : no_place;
}

OwnerCompute::Place OwnerCompute::preferred_place(DatumId datum) const {
  if (const Place owner = owners_.of(datum); owner != no_place) return owner;
  if (const Place advised = device(view().advice(datum)); advised != no_place) return advised;
  const auto holder = std::ranges::find_if(
      nodes_, [&](const Node& node) { return node.owns && has_copy_or_owns(datum, node); });
  return holder == nodes_.end() ? no_place : static_cast<Place>(holder - nodes_.begin());
}

/// True if the node holds the datum, or will hold it as its owner.
bool OwnerCompute::has_copy_or_owns(DatumId datum, const Node& node) const {
  const ReplicaState state = view().residency(datum, node.id);
  if (state == ReplicaState::valid || state == ReplicaState::in_flight) return true;
  const Place owner = owners_.of(datum);
  return owner != no_place && &nodes_[owner] == &node;
}

// ---- load and ownership

void OwnerCompute::charge(Placed& placed, Place place, Duration duration) {
  placed = {place, duration};
  nodes_[place].load += duration;
}

/// Forgets a picked task that has finished or is placed again. Returns false if the task was not picked.
bool OwnerCompute::release_picked(const Task& task) {
  const Placed* placed = records_.find_picked(task);
  if (placed == nullptr) return false;
  nodes_[placed->place].load -= placed->charge;
  records_.release_picked(task);
  return true;
}

/// Makes the node the owner of the data that the task writes.
void OwnerCompute::set_owner(const Task& task, Place place) {
  for (const Access& access : task.accesses())
    if (places(access)) owners_.set(access.datum, nodes_[place].owns ? place : no_place);
}

void OwnerCompute::returned(Task& task) {
  release_picked(task);
  place(task);
}

void OwnerCompute::finished(Task& task, WorkerId worker, Duration) {
  if (!release_picked(task)) return;
  set_owner(task,
            place_of_worker_[index(worker)]);  // the datum may have been evicted before the task wrote it
}

/// Ends ownership if the datum was evicted or lost, but not if it was only overwritten elsewhere or its prefetch was
/// revoked.
void OwnerCompute::dropped(DatumId datum, NodeId node, DropReason reason) {
  if (reason != DropReason::evicted && reason != DropReason::failed) return;
  const Place owner = owners_.of(datum);
  if (owner != no_place && nodes_[owner].id == node) owners_.set(datum, no_place);
}

/// Places the tasks of the worker's node again: on the owner of their data, if it has workers left.
void OwnerCompute::worker_lost(WorkerId worker) {
  Node& node = nodes_[place_of_worker_[index(worker)]];
  std::erase(node.workers, worker);
  std::vector<Task*> tasks;
  while (Task* task = node.queue.take_first([](const Task&) { return true; })) tasks.push_back(task);
  for (Task* task : tasks) {
    Placed& placed = records_.of_waiting(*task);
    nodes_[placed.place].load -= placed.charge;
    records_.release(placed);
  }
  for (Task* task : tasks) place(*task);
}

// ---- picking tasks

Task* OwnerCompute::pick(WorkerId worker, bool) {
  Task* task = nodes_[place_of_worker_[index(worker)]].queue.take_first(
      [&](const Task& it) { return view().can_run(it, worker); });
  return task == nullptr ? nullptr : hand_to_worker(*task);
}

Task* OwnerCompute::hand_to_worker(Task& task) {
  records_.picked(task);
  return &task;
}

/// Takes a task placed on any node; the thief's node then owns the data that it writes.
Task* OwnerCompute::take_any(WorkerId thief) {
  if (Task* own = pick(thief, true)) return own;
  const Place place = place_of_worker_[index(thief)];
  for (Node& node : nodes_) {
    Task* task = node.queue.take_first([&](const Task& it) { return view().can_run(it, thief); });
    if (task == nullptr) continue;
    Placed& placed = records_.of_waiting(*task);
    nodes_[placed.place].load -= placed.charge;
    charge(placed, place, view().estimate(*task, thief));
    set_owner(*task, place);
    return hand_to_worker(*task);
  }
  return nullptr;
}

std::size_t OwnerCompute::upcoming(WorkerId worker, std::span<DatumId> out) {
  UpcomingReads found(out);
  nodes_[place_of_worker_[index(worker)]].queue.for_each_while(
      [&](const Task& task) { return found.add(task); });
  return found.written();
}

}  // namespace fairlead::schedule
