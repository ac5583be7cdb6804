// See recorded_tasks.hpp.
#include "front/replay/recorded_tasks.hpp"

#include <fairlead/codelet_info.hpp>

#include <algorithm>

namespace fairlead::front {

namespace {
constexpr std::size_t kinds_looked_at = 16;  // the last ones: programs repeat themselves
}

RecordedTasks::~RecordedTasks() {
  for (const RecordedNode& node : nodes_)
    if (node.kind != nullptr && node.kind->codelet->destroy_closure != nullptr)
      node.kind->codelet->destroy_closure(node.closure);
}

RecordedTasks::Use& RecordedTasks::use_of(engine::RegisteredDatum& datum) {
  const auto [place, is_new] = use_of_.try_emplace(&datum, static_cast<std::uint32_t>(use_at_.size()));
  if (is_new) {
    Use& use = uses_.emplace_back();
    use.datum = &datum;
    use.id = datum.id;
    use.generation = datum.generation;
    use_at_.push_back(&use);
  }
  accesses_.push_back({place->second, AccessMode::read});
  return *use_at_[place->second];
}

bool RecordedTasks::writes(const engine::RegisteredDatum& datum) const {
  const auto found = use_of_.find(&datum);
  return found != use_of_.end() && use_at_[found->second]->written;
}

std::byte* RecordedTasks::add(RecordedKind kind, std::span<const Insertion> insertions) {
  kind.of = this;
  const auto looked_at = static_cast<std::ptrdiff_t>(std::min(kinds_.size(), kinds_looked_at));
  const auto known = std::find(kinds_.end() - looked_at, kinds_.end(), kind);
  last_kind_ = known != kinds_.end() ? &*known : &kinds_.emplace_back(kind);
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  RecordedNode& node = nodes_.emplace_back();
  node.closure = static_cast<std::byte*>(closures_.allocate(std::max(kind.codelet->closure_bytes, 1u), 16));
  node.first_access = static_cast<std::uint32_t>(accesses_.size());
  node.access_count = static_cast<std::uint16_t>(insertions.size());
  for (const Insertion& insertion : insertions) {
    Use& use = use_of(*insertion.datum);
    accesses_.back().mode = insertion.mode;
    if (insertion.mode == AccessMode::read) {
      if (use.writer != no_task) edges_.emplace_back(use.writer, number);
      use.readers.push_back(number);
    } else {
      if (use.readers.empty() && use.writer != no_task) edges_.emplace_back(use.writer, number);
      for (const std::uint32_t reader : use.readers) edges_.emplace_back(reader, number);
      use.readers.clear();
      use.writer = number;
      use.written = true;
    }
  }
  return node.closure;
}

void RecordedTasks::seal() {
  for (const auto& [before, after] : edges_) {
    ++nodes_[before].successor_count;
    ++nodes_[after].predecessors;
  }
  successors_.resize(edges_.size());
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    RecordedNode& node = nodes_[i];
    node.first_successor = begin;
    begin += std::exchange(node.successor_count, 0);
    node.wait = node.predecessors;
    if (node.predecessors == 0) initial_.push_back(i);
  }
  for (const auto& [before, after] : edges_) {
    RecordedNode& node = nodes_[before];
    successors_[node.first_successor + node.successor_count++] = after;
  }
  edges_ = {};
  use_of_ = {};
  for (Use& use : uses_) use.readers = {};
  sealed_ = true;
}

void RecordedTasks::prepare(std::uint32_t lane, std::uint64_t first_id) {
  made_.clear();
  first_id_ = first_id;
  if (lane == lane_ && !std::exchange(uses_changed, false)) return;
  lane_ = lane;
  for (RecordedNode& node : nodes_) {
    node.passes = lane != 0 && node.kind->may_pass;
    for (std::size_t i = 0; i < node.access_count; ++i)
      node.passes &= use_at_[accesses_[node.first_access + i].use]->in_lane;
  }
}

Task& RecordedTasks::make(RecordedNode& node, Recycler& recycler) {
  Task& task = recycler.take();
  const RecordedKind& kind = *node.kind;
  task.recorded = &node;
  __builtin_prefetch(node.closure);  // its body looks at it soon
  if (node.successor_count != 0) __builtin_prefetch(&successors_[node.first_successor]);
  task.codelet = kind.codelet;
  task.source = &source_;
  task.submitted_at = kind.submitted_at;
  task.scratch_bytes = kind.scratch_bytes;
  task.priority = kind.priority;
  task.nodes_excluded = kind.nodes_excluded;
  task.work = kind.work;
  task.workers_wanted = kind.workers_wanted;
  task.id = static_cast<TaskId>(first_id_ + static_cast<std::uint64_t>(&node - nodes_.data()));
  task.lane = node.passes ? lane_ : 0;
  task.policy_data = nullptr;
  task.pending_copies = 0;
  task.state = TaskState::waiting;
  task.flags = 0;
  task.cancelled = false;
  task.implementation = no_implementation;
  task.node = no_id<NodeId>;
  task.worker = no_id<WorkerId>;
  task.kind = EventKind::task_ready;
  task.access_count = node.access_count;
  task.accesses_begin =
      node.access_count <= inline_accesses ? task.inline_access.data() : new Access[node.access_count];
  for (std::size_t i = 0; i < node.access_count; ++i) {
    const RecordedAccess& recorded = accesses_[node.first_access + i];
    Use& use = *use_at_[recorded.use];
    Access& access = task.accesses_begin[i];
    access.task = &task;
    access.epoch = &use;
    access.datum = use.id;
    access.mode = recorded.mode;
    access.partials = access.partial = 0;
    access.packed = use.datum->tail.packed;
    access.fresh = false;
  }
  return task;
}

void RecordedTasks::release(const Task& task, EventChain& ready, Recycler& recycler) {
  RecordedNode& node = *task.recorded;
  RecordedTasks& all = *node.kind->of;
  // For the next run: in this one nobody counts it any more.
  std::atomic_ref(node.wait).store(node.predecessors, std::memory_order_relaxed);
  for (const std::uint32_t number :
       std::span(all.successors_).subspan(node.first_successor, node.successor_count)) {
    RecordedNode& next = all.nodes_[number];
    const std::atomic_ref wait(next.wait);
    // 1: only this one is missing, so no other thread can touch the count. acq_rel: sees what the others did.
    if (wait.load(std::memory_order_acquire) != 1 && wait.fetch_sub(1, std::memory_order_acq_rel) != 1)
      continue;
    Task& successor = all.descriptor(next, recycler);
    successor.kind = EventKind::task_ready;
    successor.worker = task.worker;
    successor.at = task.at;
    ready.append(successor);
  }
}

}  // namespace fairlead::front
