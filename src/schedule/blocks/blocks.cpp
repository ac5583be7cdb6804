// The BLOCKS policy. Its plan is a sequence of sets of tiles; ready tasks, eviction and prefetch follow it. With
// several memory nodes, a set fits in all of them together, and each of its tiles has a node that runs its updates
// (tile_owners.hpp). Nodes with a direct link get inputs from each other (neighbours.hpp).
#include "schedule/blocks/blocks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "schedule/blocks/neighbours.hpp"
#include "schedule/blocks/node_plan.hpp"
#include "schedule/blocks/tile_owners.hpp"
#include "schedule/blocks/tile_set.hpp"
#include "schedule/index/task_graph_window.hpp"

namespace fairlead::schedule {
namespace {

using blocks::never;
using blocks::NodePlan;
using blocks::Position;

class Blocks final : public Policy {
 public:
  Notifications interests() const override { return Notifications::submitted | Notifications::progress; }
  std::size_t horizon() const override { return 65'536; }

  void submitted(Task& task) override {
    tiles_.submitted(lookahead_.submitted(task), owners_.places().size() > 1);
  }

  void horizon_closed() override { lookahead_.closed(); }

  void ready(Task& task, WorkerId) override {
    const WindowTask* ahead = lookahead_.find(task.id);
    if (ahead != nullptr && ahead->planned)
      nodes_[place_of(*ahead)].ready.emplace(ahead->position, &task);
    else
      unplanned_.emplace(task.id, &task);
  }
  void finished(Task& task, WorkerId worker, Duration) override {
    nodes_[place_of_worker_[index(worker)]].no_unplanned_data = false;
    over(task);
  }
  void cancelled(Task& task) override { over(task); }
  void removed(DatumId datum) override {
    lookahead_.removed(datum);
    for (NodePlan& node : nodes_) node.removed(datum);
  }

  // Reassigns the tiles and ready tasks of a node that has lost its last worker.
  void worker_lost(WorkerId lost) override {
    const std::size_t place = place_of_worker_[index(lost)];
    NodePlan& node = nodes_[place];
    std::erase(node.workers, lost);
    if (!node.workers.empty()) return;
    owners_.lost(place);
    for (std::size_t i = 0; i < tile_plans_.size(); ++i)
      if (TilePlan& tile = tile_plans_[i]; tile.place == place && tile.updates_to_come > 0) {
        node.release(view().bytes(static_cast<DatumId>(i)));
        give_owner(static_cast<DatumId>(i), tile);
      }
    for (const auto& [position, task] : std::exchange(node.ready, {})) {
      const WindowTask* ahead = lookahead_.find(task->id);
      nodes_[ahead != nullptr ? place_of(*ahead) : owners_.places().front()].ready.emplace(position, task);
    }
  }

  Task* pick(WorkerId worker, bool must) override {
    NodePlan& own = nodes_[place_of_worker_[index(worker)]];
    // So that the tiles of the next set arrive while this set is computed.
    if (is_nearly_finished()) plan_more(false);
    do {
      bool wait = false;
      if (Task* task = take_next(worker, own, must, wait); task != nullptr || wait) return task;
    } while (plan_more(must));
    if (Task* task = steal(worker, own, must); task != nullptr) return task;
    // Unplanned tasks: there is no memory for a plan, or the planned tasks cannot run on this worker.
    return own.ready.empty() && !must ? nullptr : take_first(worker, unplanned_);
  }

  /// Belady's rule on the plan: evicts the datum with the furthest next use; among unplanned data, the least recently
  /// used. A neighbour's uses count too if this node would supply the datum, since directly linked memories act as one
  /// cache.
  DatumId victim(NodeId id, EvictionCandidates& candidates) override {
    NodePlan& node = nodes_[place_of_node_[index(id)]];
    DatumId best = no_id<DatumId>;
    Position furthest = 0;
    for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next()) {
      Position next = node.next_use(datum, finished_);
      if (best != no_id<DatumId> && next <= furthest) continue;
      next = std::min(next, neighbours_.next_neighbour_use(datum, node, finished_));
      if (next == never) return datum;
      if (best != no_id<DatumId> && next <= furthest) continue;
      best = datum;
      furthest = next;
    }
    return best;
  }

  /// Evicts only data that the plan does not use at all. Tasks do not run exactly as planned, so planned data would be
  /// exchanged with the prefetched data back and forth.
  DatumId prefetch_victim(NodeId id, DatumId, EvictionCandidates& candidates) override {
    NodePlan& node = nodes_[place_of_node_[index(id)]];
    if (node.no_unplanned_data) return no_id<DatumId>;
    for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next())
      if (node.next_use(datum, finished_) == never &&
          neighbours_.next_neighbour_use(datum, node, finished_) == never)
        return datum;
    node.no_unplanned_data = true;
    return no_id<DatumId>;
  }

  /// Data that the first ready tasks of the plan lack.
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    NodePlan& own = nodes_[place_of_worker_[index(worker)]];
    std::size_t written = 0;
    const Position next = add_lacking(worker, own, 0, out, written);
    if (set_cost_.computing_limits)
      own.complete_before = add_lacking(worker, own, std::max(next, own.complete_before), out, written);
    return written;
  }

 private:
  /// Cost model of a set of tiles: the time to compute it on all workers of the only node, and to transfer it there.
  struct SetCost {
    double ns_per_update = 0, ns_per_byte = 0;  // ns per update and per byte
    bool computing_limits = false;              // computation takes longer than the transfers
  };

  void attached() override {
    tiles_.attach(view(), lookahead_);
    owners_.attach(view());
    for (const NodeInfo& node : view().nodes()) {
      if (index(node.id) >= place_of_node_.size()) place_of_node_.resize(index(node.id) + 1);
      place_of_node_[index(node.id)] = nodes_.size();
      nodes_.emplace_back(node.id, node.capacity);
    }
    neighbours_.attach(view(), nodes_);
    for (const WorkerInfo& info : view().workers()) {
      place_of_worker_.push_back(place_of_node_[index(info.node)]);
      NodePlan& node = nodes_[place_of_worker_.back()];
      node.workers.push_back(info.id);
      if (info.kind != WorkerKind::cpu) node.streams = node.workers.size();
    }
    for (NodePlan& node : nodes_)
      for (const std::size_t place : owners_.places())
        if (!node.workers.empty() && !nodes_[place].workers.empty() &&
            view().distance(node.workers.front(), nodes_[place].workers.front()) == View::next_node)
          node.neighbours.push_back(place);
    held_.resize(nodes_.size());
  }

  /// The node on which a planned task runs: the node of its tile, or another one that can run it.
  std::size_t place_of(const WindowTask& ahead) {
    const std::size_t place =
        ahead.tile != no_id<DatumId> ? tile_plan(ahead.tile).place : owners_.places().front();
    if (nodes_.size() == 1) return place;
    const auto can_run = [&](const NodePlan& node) {
      return std::ranges::any_of(node.workers, [&](WorkerId id) { return view().can_run(*ahead.task, id); });
    };
    if (can_run(nodes_[place])) return place;
    const auto other = std::ranges::find_if(nodes_, can_run);
    return other == nodes_.end() ? place : static_cast<std::size_t>(other - nodes_.begin());
  }

  /// Adds the data that some ready tasks lack, from position `nothing_before` on. Returns the position before which no
  /// ready task lacks anything.
  Position add_lacking(WorkerId worker, const NodePlan& own, Position nothing_before, std::span<DatumId> out,
                       std::size_t& written) {
    bool lacks = false;
    auto it = own.ready.lower_bound(nothing_before);
    for (int looked_at = 0; it != own.ready.end() && looked_at++ < most_looked_ahead; ++it) {
      if (view().can_run(*it->second, worker))
        for (const Access& access : it->second->accesses()) {
          if (!reads(access.mode) || view().residency(access.datum, own.id()) != ReplicaState::absent ||
              neighbours_.is_arriving_at_neighbour(access.datum, own))
            continue;
          lacks = true;
          if (written == out.size()) return nothing_before;
          const auto before = out.first(written);
          if (std::ranges::find(before, access.datum) == before.end()) out[written++] = access.datum;
        }
      if (!lacks) nothing_before = it->first + 1;
    }
    return nothing_before;
  }

  template <class Queue>
  Task* take_first(WorkerId worker, Queue& queue) {
    for (auto it = queue.begin(); it != queue.end(); ++it) {
      Task* task = it->second;
      if (!view().can_run(*task, worker)) continue;
      queue.erase(it);
      return task;
    }
    return nullptr;
  }

  /// The node's first task without inputs in flight to a neighbour. A neighbour will soon supply such inputs, so
  /// waiting is cheaper than another transfer from home; `wait` is set if only such tasks remain.
  Task* take_next(WorkerId worker, NodePlan& own, bool must, bool& wait) {
    if (nodes_.size() == 1 || must) return take_first(worker, own.ready);
    int looked_at = 0;
    for (auto it = own.ready.begin(); it != own.ready.end() && looked_at++ < most_looked_ahead; ++it) {
      Task* task = it->second;
      if (!view().can_run(*task, worker)) continue;
      if (std::ranges::any_of(task->accesses(), [&](const Access& access) {
            return reads(access.mode) && neighbours_.is_arriving_at_neighbour(access.datum, own);
          })) {
        wait = true;
        continue;
      }
      own.ready.erase(it);
      return task;
    }
    return wait ? nullptr : take_first(worker, own.ready);
  }

  /// Steals the last task of the node with the longest queue, if this worker finishes it before that node would. A
  /// worker whose node has direct links steals only from linked neighbours, and only tasks that read nothing from the
  /// home node: the shared link to it is the bottleneck then.
  Task* steal(WorkerId worker, NodePlan& own, bool must) {
    NodePlan* busiest = nullptr;
    Duration most{};
    for (std::size_t place = 0; place < nodes_.size(); ++place) {
      NodePlan& node = nodes_[place];
      if (&node == &own || node.ready.empty()) continue;
      if (must) {
        if (Task* task = take_first(worker, node.ready); task != nullptr) return task;
        continue;
      }
      if (node.workers.empty() ||
          (!own.neighbours.empty() && std::ranges::find(own.neighbours, place) == own.neighbours.end()))
        continue;
      const Task& last = *node.ready.rbegin()->second;
      const Duration left = view().estimate(last, node.workers.front()) *
                            static_cast<std::int64_t>(node.ready.size() / node.workers.size());
      if (left <= most) continue;
      busiest = &node;
      most = left;
    }
    if (busiest == nullptr) return nullptr;
    Task* const task = busiest->ready.rbegin()->second;
    if (!view().can_run(*task, worker)) return nullptr;
    Duration here = view().estimate(*task, worker);
    for (const Access& access : task->accesses()) {
      if (reads(access.mode)) {
        if (!own.neighbours.empty() && neighbours_.has_no_neighbour_copy(access.datum, own)) return nullptr;
        here += view().transfer_time(access.datum, own.id());
      }
      if (writes(access.mode))  // the result is transferred back
        here += view().transfer_time(view().bytes(access.datum), own.id(), busiest->id());
    }
    if (here >= most) return nullptr;
    busiest->ready.erase(std::prev(busiest->ready.end()));
    return task;
  }

  /// Plans a set of tiles around the oldest ready task that is in no plan. Its predecessors have finished, so the plan
  /// starts with a runnable task. Returns false if there is no such task or no memory.
  bool plan_more(bool must) {
    if (unplanned_.empty()) return false;
    Task& oldest = *unplanned_.begin()->second;
    // Work on the existing plan first; but at its end workers and disk would idle. This test precedes the search for a
    // seed, which can be slow, since workers of full nodes poll often.
    const WindowTask* first = lookahead_.find(oldest.id);
    if (!must && first != nullptr && first->tile != no_id<DatumId> && tile_bytes_ != 0 &&
        held() > max_held(room(tile_bytes_)) && !is_nearly_finished())
      return false;
    // At the first task of a flow little else is known, while a parameterized graph is known up to the horizon. Both
    // start alike: with a single task, if it is the only one and the last known update of its tile.
    const bool alone =
        !planning_started_ && unplanned_.size() == 1 && first != nullptr && first->next == nullptr;
    WindowTask* seed = alone ? nullptr : find_seed();
    planning_started_ = true;
    if (seed == nullptr) {
      plan_alone(oldest);
      return true;
    }
    tile_bytes_ = std::max<Bytes>(1, view().bytes(seed->tile));
    const Bytes all_room = room(tile_bytes_);
    const bool soon_free = is_nearly_finished();
    if (held() > max_held(all_room) && !must && !soon_free) return false;
    tiles_.grow(*seed, soon_free ? all_room : all_room - std::min(all_room, held()), owners_.readers(),
                found_);
    set_cost_ = owners_.places().size() == 1 ? times_of_set() : SetCost{};
    for (WindowTask* ahead : found_) {
      ahead->position = append(*ahead);
      const auto ready = unplanned_.find(ahead->task->id);
      if (ready == unplanned_.end()) continue;
      nodes_[place_of(*ahead)].ready.emplace(ahead->position, ready->second);
      unplanned_.erase(ready);
    }
    // The seed itself is unplanned if a commutative update may run before earlier ones.
    if (!seed->planned) plan_alone(*seed->task);
    return true;
  }

  /// The cost of the set found_ on the only node, estimated from a sample of its tasks.
  SetCost times_of_set() const {
    const NodePlan& node = nodes_[owners_.places().front()];
    if (node.workers.empty() || found_.empty()) return {};
    const std::size_t step = found_.size() / 16 + 1;
    double computing = 0, way_of_a_byte = 0;  // ns; ns per byte
    for (std::size_t i = 0; i < found_.size(); i += step) {
      const Task& task = *found_[i]->task;
      if (!view().can_run(task, node.workers.front())) continue;  // runs on other workers
      computing += static_cast<double>(
          (view().estimate(task, node.workers.front()) * static_cast<std::int64_t>(step)).count());
      for (const Access& access : task.accesses())
        way_of_a_byte = std::max(way_of_a_byte,
                                 static_cast<double>(view().transfer_time(access.datum, node.id()).count()) /
                                     static_cast<double>(std::max<Bytes>(1, view().bytes(access.datum))));
    }
    const double all = computing / static_cast<double>(node.workers.size());
    return {all / static_cast<double>(found_.size()), way_of_a_byte,
            all > way_of_a_byte * static_cast<double>(tiles_.bytes_used())};
  }

  /// The bytes available for planned tiles on all owner nodes: the number of owners times the minimum over them.
  Bytes room(Bytes tile) const {
    Bytes least = ~Bytes{0};
    for (const std::size_t place : owners_.places())
      least = std::min(least, nodes_[place].tile_capacity(tile));
    return least * owners_.places().size();
  }
  /// The limit on the bytes of earlier sets when another set is planned. A smaller set causes more transfers, but nodes
  /// that share the link to home wait longer for the tiles of a large one.
  Bytes max_held(Bytes room) const { return owners_.places().size() == 1 ? room / 10 * 3 : room / 2; }
  /// True if computing the planned updates takes at most as long as loading as many tiles as fit. The next set is then
  /// planned as if all memory were free: its tiles arrive when the earlier ones have left, hidden by computation.
  bool is_nearly_finished() const {
    return set_cost_.computing_limits && static_cast<double>(pending_updates_) * set_cost_.ns_per_update <=
                                             set_cost_.ns_per_byte * static_cast<double>(room(tile_bytes_));
  }
  Bytes held() const {
    Bytes sum = 0;
    for (const NodePlan& node : nodes_) sum += node.held();
    return sum;
  }

  /// Plans a ready task that belongs to no set of tiles.
  void plan_alone(Task& task) {
    Position position = finished_.size();
    std::size_t place = owners_.places().front();
    if (WindowTask* ahead = lookahead_.find(task.id); ahead != nullptr) {
      ahead->planned = true;
      for (WindowTask* later : ahead->successors) ++later->planned_blockers;
      ahead->position = position = append(*ahead);
      place = place_of(*ahead);
    } else {
      finished_.push_back(true);
    }
    unplanned_.erase(task.id);
    nodes_[place].ready.emplace(position, &task);
  }

  /// The seed: the ready task whose tile has all remaining updates plannable, and the fewest of them; if there is none,
  /// the oldest task. Null if the oldest writes nothing or was never submitted.
  WindowTask* find_seed() {
    int steps = most_steps_for_seed;
    WindowTask* best = nullptr;
    std::size_t shortest = ~std::size_t{0};
    for (const auto& [id, task] : unplanned_) {
      WindowTask* seed = lookahead_.find(id);
      if (seed == nullptr || seed->tile == no_id<DatumId> || steps <= 0) break;
      if (shortest == 1) break;  // No chain is shorter. All chains have length 1 where data are initialized.
      std::size_t length = 0;
      const WindowTask* update = seed;
      for (; update != nullptr && update->unlocked_by_plan() && length <= shortest; update = update->next)
        ++length;
      steps -= static_cast<int>(length) + 1;
      if (update != nullptr || length > shortest) continue;
      if (length == shortest && best != nullptr && blocks::TieBreak(*best) < blocks::TieBreak(*seed))
        continue;
      shortest = length;
      best = seed;
    }
    if (best != nullptr) return best;
    WindowTask* oldest = lookahead_.find(unplanned_.begin()->first);
    return oldest == nullptr || oldest->tile == no_id<DatumId> ? nullptr : oldest;
  }

  Position append(const WindowTask& ahead) {
    const Position position = finished_.size();
    finished_.push_back(false);
    if (ahead.tile != no_id<DatumId>) {
      TilePlan& tile = tile_plan(ahead.tile);
      ++pending_updates_;
      if (tile.updates_to_come++ == 0) give_owner(ahead.tile, tile);
    }
    NodePlan& node = nodes_[place_of(ahead)];
    for (const Access& access : ahead.task->accesses()) node.add_use(access.datum, position);
    return position;
  }

  void over(const Task& task) {
    if (const WindowTask* ahead = lookahead_.find(task.id); ahead != nullptr && ahead->planned) {
      finished_[ahead->position] = true;
      if (ahead->tile != no_id<DatumId>) {
        --pending_updates_;
        if (TilePlan& tile = tile_plan(ahead->tile); --tile.updates_to_come == 0)
          nodes_[tile.place].release(view().bytes(ahead->tile));
      }
    }
    lookahead_.finished(task, unlocked_);
    planning_started_ = planning_started_ && !lookahead_.empty();
  }

  /// The plan of a tile.
  struct TilePlan {
    std::uint32_t updates_to_come = 0;  // planned and not finished
    std::size_t place = 0;              // position of the node that runs its updates
  };
  void give_owner(DatumId datum, TilePlan& tile) {
    for (std::size_t place = 0; place < nodes_.size(); ++place) held_[place] = nodes_[place].held();
    tile.place = owners_.choose(datum, held_);
    nodes_[tile.place].reserve(view().bytes(datum));
  }
  TilePlan& tile_plan(DatumId tile) {
    if (index(tile) >= tile_plans_.size()) tile_plans_.resize(2 * index(tile) + 1);
    return tile_plans_[index(tile)];
  }

  static constexpr int most_looked_ahead = 16;  // tasks; upcoming() is called often
  static constexpr int most_steps_for_seed = 50'000;

  TaskGraphWindow lookahead_;
  bool planning_started_ = false;  // a task has been planned since the policy was last empty
  blocks::TileSet tiles_;
  blocks::TileOwners owners_;
  std::vector<NodePlan> nodes_;  // in the order of View::nodes()
  blocks::Neighbours neighbours_;
  std::vector<std::size_t> place_of_node_, place_of_worker_;
  std::map<TaskId, Task*> unplanned_;  // ready, in no plan; oldest first
  std::vector<bool> finished_;         // by position: the task has finished
  std::vector<TilePlan> tile_plans_;   // by datum
  Bytes tile_bytes_ = 0;               // bytes of the last seed's tile
  std::uint64_t pending_updates_ = 0;  // planned and unfinished updates of all tiles
  SetCost set_cost_;                   // cost of the set planned last
  std::vector<Bytes> held_;            // scratch
  std::vector<WindowTask*> found_, unlocked_;
};

}  // namespace

std::unique_ptr<Policy> make_blocks() { return std::make_unique<Blocks>(); }

}  // namespace fairlead::schedule
