// The policy: its plan, one set of tiles after the other, and what ready tasks, eviction and prefetch take
// from it. With several memory nodes a set fits in all of them together, and each of its tiles has a node
// that runs its updates (owners.hpp).
#include "schedule/blocks/blocks.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "schedule/blocks/node_plan.hpp"
#include "schedule/blocks/owners.hpp"
#include "schedule/blocks/tile_set.hpp"
#include "schedule/lookahead.hpp"

namespace fairlead::schedule {
namespace {

using blocks::never;
using blocks::NodePlan;
using blocks::Position;

class Blocks final : public Policy {
 public:
  Interest interests() const override { return Interest::submitted | Interest::progress; }
  std::size_t horizon() const override { return 65'536; }

  void submitted(Task& task) override { lookahead_.submitted(task); }

  void ready(Task& task, WorkerId) override {
    ++changes_;
    const AheadTask* ahead = lookahead_.find(task.id);
    if (ahead != nullptr && ahead->planned)
      node_of(*ahead).ready.emplace(ahead->position, &task);
    else
      unplanned_.emplace(task.id, &task);
  }
  void finished(Task& task, WorkerId, Duration) override { over(task); }
  void cancelled(Task& task) override { over(task); }
  void worker_lost(WorkerId lost) override {
    lost_[index(lost)] = true;
    for (const WorkerInfo& info : view().workers())
      if (info.node == view().workers()[index(lost)].node && !lost_[index(info.id)]) return;
    nodes_[node_of_worker_[index(lost)]].lost = true;
  }

  Task* pick(WorkerId worker, bool must) override {
    NodePlan& own = nodes_[node_of_worker_[index(worker)]];
    do {
      if (Task* task = first_for(worker, own.ready); task != nullptr) return task;
    } while (plan_more(must));
    if (Task* task = from_others(worker, must); task != nullptr) return task;
    // Not planned for want of memory, or planned with tasks that this worker cannot run.
    return own.ready.empty() && !must ? nullptr : first_for(worker, unplanned_);
  }

  /// Belady on the plan: whose next use is furthest; what it does not use at all, least recently used first.
  DatumId victim(NodeId node, Candidates& candidates) override {
    DatumId best = no_id<DatumId>;
    Position furthest = 0;
    for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next()) {
      const Position next = next_use(datum, node);
      if (next == never) return datum;
      if (best != no_id<DatumId> && next <= furthest) continue;
      best = datum;
      furthest = next;
    }
    return best;
  }

  /// Only what the plan does not use at all: tasks do not run exactly as planned, and what it does use would
  /// trade places with what is wanted, back and forth.
  DatumId spare(NodeId node, DatumId, Candidates& candidates) override {
    const DatumId least = victim(node, candidates);
    return least != no_id<DatumId> && next_use(least, node) == never ? least : no_id<DatumId>;
  }

  /// What the first ready tasks of the plan lack.
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    NodePlan& own = nodes_[node_of_worker_[index(worker)]];
    std::size_t written = 0;
    int looked_at = 0;
    for (const auto& [position, task] : own.ready) {
      if (looked_at++ == most_looked_ahead) break;
      if (!view().can_run(*task, worker)) continue;
      for (const Access& access : task->accesses()) {
        if (written == out.size()) return written;
        if (!reads(access.mode) || view().residency(access.datum, own.id()) != ReplicaState::absent) continue;
        const auto before = out.first(written);
        if (std::ranges::find(before, access.datum) == before.end()) out[written++] = access.datum;
      }
    }
    return written;
  }

 private:
  void attached() override {
    tiles_.attach(view(), lookahead_);
    owners_.attach(view());
    for (const NodeInfo& node : view().nodes()) nodes_.emplace_back(node.id, node.capacity);
    if (nodes_.empty()) nodes_.emplace_back(NodeId{}, Bytes{0});
    for (const WorkerInfo& info : view().workers())
      node_of_worker_.push_back(
          static_cast<std::size_t>(std::ranges::find(nodes_, info.node, &NodePlan::id) - nodes_.begin()));
    lost_.assign(view().workers().size(), false);
    held_.resize(nodes_.size());
  }

  Position next_use(DatumId datum, NodeId id) {
    const auto node = std::ranges::find(nodes_, id, &NodePlan::id);
    return node == nodes_.end() ? never : node->next_use(datum, over_);
  }

  /// Of a planned task.
  NodePlan& node_of(const AheadTask& ahead) {
    return nodes_[ahead.tile == no_id<DatumId> ? 0 : tile_plan(ahead.tile).node];
  }

  template <class Queue>
  Task* first_for(WorkerId worker, Queue& queue) {
    for (auto it = queue.begin(); it != queue.end(); ++it) {
      Task* task = it->second;
      if (!view().can_run(*task, worker)) continue;
      queue.erase(it);
      return task;
    }
    return nullptr;
  }

  /// What no worker of its node will run.
  Task* from_others(WorkerId worker, bool must) {
    for (NodePlan& node : nodes_)
      if (must || node.lost)
        if (Task* task = first_for(worker, node.ready); task != nullptr) return task;
    return nullptr;
  }

  /// Plans a set of tiles around the oldest task that is ready and in no plan. Its predecessors are finished,
  /// so the plan always begins with something that can run. False if there is none, or no room.
  bool plan_more(bool must) {
    if (unplanned_.empty()) return false;
    Task& oldest = *unplanned_.begin()->second;
    // First what was planned before; but its end leaves workers without tasks, and the disk idle. Asked
    // before a seed is looked for, which may take long: workers of full nodes ask again and again.
    const AheadTask* first = lookahead_.find(oldest.id);
    if (!must && first != nullptr && first->tile != no_id<DatumId> && tile_bytes_ != 0 &&
        held() > room(tile_bytes_) / 10 * 3)
      return false;
    AheadTask* seed = find_seed();
    if (seed == nullptr) {
      plan_alone(oldest);
      return true;
    }
    tile_bytes_ = std::max<Bytes>(1, view().bytes(seed->tile));
    const Bytes all_room = room(tile_bytes_);
    if (held() > all_room / 10 * 3 && !must) return false;
    tiles_.grow(*seed, all_room - std::min(all_room, held()), found_);
    for (AheadTask* ahead : found_) {
      ahead->position = append(*ahead);
      const auto ready = unplanned_.find(ahead->task->id);
      if (ready == unplanned_.end()) continue;
      node_of(*ahead).ready.emplace(ahead->position, ready->second);
      unplanned_.erase(ready);
    }
    if (!seed->planned) plan_alone(*seed->task);  // a commutative update may run before earlier ones
    return true;
  }

  /// For tiles of plans, on all nodes: as often what fits on the smallest.
  Bytes room(Bytes tile) const {
    Bytes least = nodes_.front().room(tile);
    for (const NodePlan& node : nodes_) least = std::min(least, node.room(tile));
    return least * nodes_.size();
  }
  Bytes held() const {
    Bytes sum = 0;
    for (const NodePlan& node : nodes_) sum += node.held();
    return sum;
  }

  /// A ready task that belongs to no set of tiles.
  void plan_alone(Task& task) {
    Position position = over_.size();
    NodePlan* node = &nodes_.front();
    if (AheadTask* ahead = lookahead_.find(task.id); ahead != nullptr) {
      ahead->planned = true;
      for (AheadTask* later : ahead->successors) ++later->promised;
      ahead->position = position = append(*ahead);
      node = &node_of(*ahead);
    } else {
      over_.push_back(true);
    }
    unplanned_.erase(task.id);
    node->ready.emplace(position, &task);
  }

  /// The oldest ready task all of whose tile's updates can be planned; failing that, the oldest. Null if that
  /// one writes nothing, or was never submitted.
  AheadTask* find_seed() {
    int steps = most_steps_for_seed;
    AheadTask* best = nullptr;
    std::size_t shortest = ~std::size_t{0};
    for (const auto& [id, task] : unplanned_) {
      AheadTask* seed = lookahead_.find(id);
      if (seed == nullptr || seed->tile == no_id<DatumId> || steps <= 0) break;
      std::size_t length = 0;
      const AheadTask* update = seed;
      for (; update != nullptr && update->unlocked_by_plan() && length < shortest; update = update->next)
        ++length;
      steps -= static_cast<int>(length) + 1;
      if (update != nullptr || length >= shortest) continue;
      shortest = length;
      best = seed;
    }
    if (best != nullptr) return best;
    AheadTask* oldest = lookahead_.find(unplanned_.begin()->first);
    return oldest == nullptr || oldest->tile == no_id<DatumId> ? nullptr : oldest;
  }

  Position append(const AheadTask& ahead) {
    const Position position = over_.size();
    over_.push_back(false);
    if (ahead.tile != no_id<DatumId>) {
      TilePlan& tile = tile_plan(ahead.tile);
      if (tile.updates_to_come++ == 0) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) held_[i] = nodes_[i].held();
        tile.node = owners_.choose(ahead.tile, held_);
        nodes_[tile.node].hold(view().bytes(ahead.tile));
      }
    }
    NodePlan& node = node_of(ahead);
    for (const Access& access : ahead.task->accesses()) node.will_use(access.datum, position);
    return position;
  }

  void over(const Task& task) {
    ++changes_;
    if (const AheadTask* ahead = lookahead_.find(task.id); ahead != nullptr && ahead->planned) {
      over_[ahead->position] = true;
      if (ahead->tile != no_id<DatumId>)
        if (TilePlan& tile = tile_plan(ahead->tile); --tile.updates_to_come == 0)
          nodes_[tile.node].let_go(view().bytes(ahead->tile));
    }
    lookahead_.finished(task, unlocked_);
  }

  /// A tile in plans.
  struct TilePlan {
    std::uint32_t updates_to_come = 0;  // planned and not over
    std::size_t node = 0;               // where they run
  };
  TilePlan& tile_plan(DatumId tile) {
    if (index(tile) >= tile_plans_.size()) tile_plans_.resize(2 * index(tile) + 1);
    return tile_plans_[index(tile)];
  }

  static constexpr int most_looked_ahead = 16;  // tasks; asked often
  static constexpr int most_steps_for_seed = 50'000;

  Lookahead lookahead_;
  blocks::TileSet tiles_;
  blocks::Owners owners_;
  std::vector<NodePlan> nodes_;  // as the view lists them
  std::vector<std::size_t> node_of_worker_;
  std::vector<bool> lost_;             // by worker
  std::map<TaskId, Task*> unplanned_;  // ready, in no plan; oldest first
  std::vector<bool> over_;             // by position
  std::vector<TilePlan> tile_plans_;   // by datum
  Bytes tile_bytes_ = 0;               // of the last seed
  std::uint64_t changes_ = 1;
  std::vector<Bytes> held_;  // scratch
  std::vector<AheadTask*> found_, unlocked_;
};

}  // namespace

std::unique_ptr<Policy> make_blocks() { return std::make_unique<Blocks>(); }

}  // namespace fairlead::schedule
