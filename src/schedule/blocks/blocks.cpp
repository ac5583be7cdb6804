// The policy: its plan, one set of tiles after the other, and what ready tasks, eviction and prefetch take
// from it. With several memory nodes a set fits in all of them together, and each of its tiles has a node
// that runs its updates (owners.hpp); nodes that are joined get inputs from each other (neighbours.hpp).
#include "schedule/blocks/blocks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "schedule/blocks/neighbours.hpp"
#include "schedule/blocks/node_plan.hpp"
#include "schedule/blocks/owners.hpp"
#include "schedule/blocks/tile_set.hpp"
#include "schedule/index/lookahead.hpp"

namespace fairlead::schedule {
namespace {

using blocks::never;
using blocks::NodePlan;
using blocks::Position;

class Blocks final : public Policy {
 public:
  Interest interests() const override { return Interest::submitted | Interest::progress; }
  std::size_t horizon() const override { return 65'536; }

  void submitted(Task& task) override {
    tiles_.submitted(lookahead_.submitted(task), owners_.places().size() > 1);
  }

  void horizon_closed() override { lookahead_.closed(); }

  void ready(Task& task, WorkerId) override {
    const AheadTask* ahead = lookahead_.find(task.id);
    if (ahead != nullptr && ahead->planned)
      nodes_[place_of(*ahead)].ready.emplace(ahead->position, &task);
    else
      unplanned_.emplace(task.id, &task);
  }
  void finished(Task& task, WorkerId worker, Duration) override {
    nodes_[place_of_worker_[index(worker)]].all_used = false;
    over(task);
  }
  void cancelled(Task& task) override { over(task); }
  void removed(DatumId datum) override {
    lookahead_.removed(datum);
    for (NodePlan& node : nodes_) node.removed(datum);
  }

  // Of a node without workers the others get the tiles.
  void worker_lost(WorkerId lost) override {
    const std::size_t place = place_of_worker_[index(lost)];
    NodePlan& node = nodes_[place];
    std::erase(node.workers, lost);
    if (!node.workers.empty()) return;
    owners_.lost(place);
    for (std::size_t i = 0; i < tile_plans_.size(); ++i)
      if (TilePlan& tile = tile_plans_[i]; tile.place == place && tile.updates_to_come > 0) {
        node.let_go(view().bytes(static_cast<DatumId>(i)));
        give_owner(static_cast<DatumId>(i), tile);
      }
    for (const auto& [position, task] : std::exchange(node.ready, {})) {
      const AheadTask* ahead = lookahead_.find(task->id);
      nodes_[ahead != nullptr ? place_of(*ahead) : owners_.places().front()].ready.emplace(position, task);
    }
  }

  Task* pick(WorkerId worker, bool must) override {
    NodePlan& own = nodes_[place_of_worker_[index(worker)]];
    if (is_nearly_over()) plan_more(false);  // so that the next tiles come while it goes on
    do {
      bool wait = false;
      if (Task* task = next_for(worker, own, must, wait); task != nullptr || wait) return task;
    } while (plan_more(must));
    if (Task* task = from_others(worker, own, must); task != nullptr) return task;
    // Not planned for want of memory, or planned with tasks that this worker cannot run.
    return own.ready.empty() && !must ? nullptr : first_for(worker, unplanned_);
  }

  /// Belady on the plan: whose next use is furthest; what it does not use at all, least recently used first.
  /// Neighbours' uses count, too, if they would get it from here: memories that are joined are one cache.
  DatumId victim(NodeId id, Candidates& candidates) override {
    NodePlan& node = nodes_[place_of_node_[index(id)]];
    DatumId best = no_id<DatumId>;
    Position furthest = 0;
    for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next()) {
      Position next = node.next_use(datum, over_);
      if (best != no_id<DatumId> && next <= furthest) continue;
      next = std::min(next, neighbours_.next_use_from_here(datum, node, over_));
      if (next == never) return datum;
      if (best != no_id<DatumId> && next <= furthest) continue;
      best = datum;
      furthest = next;
    }
    return best;
  }

  /// Only what the plan does not use at all: tasks do not run exactly as planned, and what it does use would
  /// trade places with what is wanted, back and forth.
  DatumId spare(NodeId id, DatumId, Candidates& candidates) override {
    NodePlan& node = nodes_[place_of_node_[index(id)]];
    if (node.all_used) return no_id<DatumId>;
    for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next())
      if (node.next_use(datum, over_) == never && neighbours_.next_use_from_here(datum, node, over_) == never)
        return datum;
    node.all_used = true;
    return no_id<DatumId>;
  }

  /// What the first ready tasks of the plan lack.
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    NodePlan& own = nodes_[place_of_worker_[index(worker)]];
    std::size_t written = 0;
    const Position next = add_lacking(worker, own, 0, out, written);
    if (set_takes_.computing_limits)
      own.lacks_nothing_before =
          add_lacking(worker, own, std::max(next, own.lacks_nothing_before), out, written);
    return written;
  }

 private:
  /// What a set of tiles takes: to be computed by all workers of the only node, and to be brought there.
  struct Times {
    double of_an_update = 0, way_of_a_byte = 0;  // ns
    bool computing_limits = false;               // and not the wire
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

  /// Where a planned task is to run: on the node of its tile, or on one that can run it.
  std::size_t place_of(const AheadTask& ahead) {
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

  /// Of some tasks that are ready, from one on. Gives the position up to which they lack nothing.
  Position add_lacking(WorkerId worker, const NodePlan& own, Position nothing_before, std::span<DatumId> out,
                       std::size_t& written) {
    bool lacks = false;
    auto it = own.ready.lower_bound(nothing_before);
    for (int looked_at = 0; it != own.ready.end() && looked_at++ < most_looked_ahead; ++it) {
      if (view().can_run(*it->second, worker))
        for (const Access& access : it->second->accesses()) {
          if (!reads(access.mode) || view().residency(access.datum, own.id()) != ReplicaState::absent ||
              neighbours_.on_its_way_to_one(access.datum, own))
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
  Task* first_for(WorkerId worker, Queue& queue) {
    for (auto it = queue.begin(); it != queue.end(); ++it) {
      Task* task = it->second;
      if (!view().can_run(*task, worker)) continue;
      queue.erase(it);
      return task;
    }
    return nullptr;
  }

  /// The first of the node's tasks; but what a neighbour is getting is fetched from there later, so others
  /// come before, and if there are none it is better to wait.
  Task* next_for(WorkerId worker, NodePlan& own, bool must, bool& wait) {
    if (nodes_.size() == 1 || must) return first_for(worker, own.ready);
    int looked_at = 0;
    for (auto it = own.ready.begin(); it != own.ready.end() && looked_at++ < most_looked_ahead; ++it) {
      Task* task = it->second;
      if (!view().can_run(*task, worker)) continue;
      if (std::ranges::any_of(task->accesses(), [&](const Access& access) {
            return reads(access.mode) && neighbours_.on_its_way_to_one(access.datum, own);
          })) {
        wait = true;
        continue;
      }
      own.ready.erase(it);
      return task;
    }
    return wait ? nullptr : first_for(worker, own.ready);
  }

  /// The last task of the node that has most to do, if that would not get there before. Where neighbours
  /// give each other their tiles, it is one of those, and nothing that the task reads comes from home: what
  /// all wait for then is the way there.
  Task* from_others(WorkerId worker, NodePlan& own, bool must) {
    NodePlan* busiest = nullptr;
    Duration most{};
    for (std::size_t place = 0; place < nodes_.size(); ++place) {
      NodePlan& node = nodes_[place];
      if (&node == &own || node.ready.empty()) continue;
      if (must) {
        if (Task* task = first_for(worker, node.ready); task != nullptr) return task;
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
        if (!own.neighbours.empty() && neighbours_.must_come_from_home(access.datum, own)) return nullptr;
        here += view().transfer_time(access.datum, own.id());
      }
      if (writes(access.mode))  // it goes back
        here += view().transfer_time(view().bytes(access.datum), own.id(), busiest->id());
    }
    if (here >= most) return nullptr;
    busiest->ready.erase(std::prev(busiest->ready.end()));
    return task;
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
        held() > most_held(room(tile_bytes_)) && !is_nearly_over())
      return false;
    // Of a flow that is being submitted little is known when its first task is; a parameterized graph is known as far as
    // policies look. Both begin alike, with the task alone, if it is the only one and finishes its tile.
    const bool alone = !begun_ && unplanned_.size() == 1 && first != nullptr && first->next == nullptr;
    AheadTask* seed = alone ? nullptr : find_seed();
    begun_ = true;
    if (seed == nullptr) {
      plan_alone(oldest);
      return true;
    }
    tile_bytes_ = std::max<Bytes>(1, view().bytes(seed->tile));
    const Bytes all_room = room(tile_bytes_);
    const bool soon_free = is_nearly_over();
    if (held() > most_held(all_room) && !must && !soon_free) return false;
    tiles_.grow(*seed, soon_free ? all_room : all_room - std::min(all_room, held()), owners_.readers(),
                found_);
    set_takes_ = owners_.places().size() == 1 ? times_of_set() : Times{};
    for (AheadTask* ahead : found_) {
      ahead->position = append(*ahead);
      const auto ready = unplanned_.find(ahead->task->id);
      if (ready == unplanned_.end()) continue;
      nodes_[place_of(*ahead)].ready.emplace(ahead->position, ready->second);
      unplanned_.erase(ready);
    }
    if (!seed->planned) plan_alone(*seed->task);  // a commutative update may run before earlier ones
    return true;
  }

  /// Of the set that was found, on the only node. As far as a few of its tasks tell.
  Times times_of_set() const {
    const NodePlan& node = nodes_[owners_.places().front()];
    if (node.workers.empty() || found_.empty()) return {};
    const std::size_t step = found_.size() / 16 + 1;
    double computing = 0, way_of_a_byte = 0;  // ns
    for (std::size_t i = 0; i < found_.size(); i += step) {
      const Task& task = *found_[i]->task;
      if (!view().can_run(task, node.workers.front())) continue;  // it takes others' time
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

  /// For tiles of plans, on all nodes that have tiles: as often what fits on the smallest.
  Bytes room(Bytes tile) const {
    Bytes least = ~Bytes{0};
    for (const std::size_t place : owners_.places()) least = std::min(least, nodes_[place].room(tile));
    return least * owners_.places().size();
  }
  /// By tiles of earlier sets, when another is planned. A smaller set moves more; but nodes that share the
  /// way home wait longer for the tiles of one that fills them all.
  Bytes most_held(Bytes room) const { return owners_.places().size() == 1 ? room / 10 * 3 : room / 2; }
  /// What is planned takes no longer than bringing as many tiles as there is room for. Where loads can be hidden at
  /// all, that hides them: the next set is planned as if all were free, its tiles come when those before have left.
  bool is_nearly_over() const {
    return set_takes_.computing_limits &&
           static_cast<double>(updates_to_come_) * set_takes_.of_an_update <=
               set_takes_.way_of_a_byte * static_cast<double>(room(tile_bytes_));
  }
  Bytes held() const {
    Bytes sum = 0;
    for (const NodePlan& node : nodes_) sum += node.held();
    return sum;
  }

  /// A ready task that belongs to no set of tiles.
  void plan_alone(Task& task) {
    Position position = over_.size();
    std::size_t place = owners_.places().front();
    if (AheadTask* ahead = lookahead_.find(task.id); ahead != nullptr) {
      ahead->planned = true;
      for (AheadTask* later : ahead->successors) ++later->promised;
      ahead->position = position = append(*ahead);
      place = place_of(*ahead);
    } else {
      over_.push_back(true);
    }
    unplanned_.erase(task.id);
    nodes_[place].ready.emplace(position, &task);
  }

  /// A ready task all of whose tile's updates can be planned, and as few of them as can be; failing that, the oldest. Null
  /// if that one writes nothing, or was never submitted.
  AheadTask* find_seed() {
    int steps = most_steps_for_seed;
    AheadTask* best = nullptr;
    std::size_t shortest = ~std::size_t{0};
    for (const auto& [id, task] : unplanned_) {
      AheadTask* seed = lookahead_.find(id);
      if (seed == nullptr || seed->tile == no_id<DatumId> || steps <= 0) break;
      if (shortest == 1) break;  // none is shorter: where data are made, that is so of all
      std::size_t length = 0;
      const AheadTask* update = seed;
      for (; update != nullptr && update->unlocked_by_plan() && length <= shortest; update = update->next)
        ++length;
      steps -= static_cast<int>(length) + 1;
      if (update != nullptr || length > shortest) continue;
      if (length == shortest && best != nullptr && blocks::Turn(*best) < blocks::Turn(*seed)) continue;
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
      ++updates_to_come_;
      if (tile.updates_to_come++ == 0) give_owner(ahead.tile, tile);
    }
    NodePlan& node = nodes_[place_of(ahead)];
    for (const Access& access : ahead.task->accesses()) node.will_use(access.datum, position);
    return position;
  }

  void over(const Task& task) {
    if (const AheadTask* ahead = lookahead_.find(task.id); ahead != nullptr && ahead->planned) {
      over_[ahead->position] = true;
      if (ahead->tile != no_id<DatumId>) {
        --updates_to_come_;
        if (TilePlan& tile = tile_plan(ahead->tile); --tile.updates_to_come == 0)
          nodes_[tile.place].let_go(view().bytes(ahead->tile));
      }
    }
    lookahead_.finished(task, unlocked_);
    begun_ = begun_ && !lookahead_.empty();
  }

  /// A tile in plans.
  struct TilePlan {
    std::uint32_t updates_to_come = 0;  // planned and not over
    std::size_t place = 0;              // of the node where they run
  };
  void give_owner(DatumId datum, TilePlan& tile) {
    for (std::size_t place = 0; place < nodes_.size(); ++place) held_[place] = nodes_[place].held();
    tile.place = owners_.choose(datum, held_);
    nodes_[tile.place].hold(view().bytes(datum));
  }
  TilePlan& tile_plan(DatumId tile) {
    if (index(tile) >= tile_plans_.size()) tile_plans_.resize(2 * index(tile) + 1);
    return tile_plans_[index(tile)];
  }

  static constexpr int most_looked_ahead = 16;  // tasks; asked often
  static constexpr int most_steps_for_seed = 50'000;

  Lookahead lookahead_;
  bool begun_ = false;  // something has been planned since no task was left
  blocks::TileSet tiles_;
  blocks::Owners owners_;
  std::vector<NodePlan> nodes_;  // as the view lists them
  blocks::Neighbours neighbours_;
  std::vector<std::size_t> place_of_node_, place_of_worker_;
  std::map<TaskId, Task*> unplanned_;  // ready, in no plan; oldest first
  std::vector<bool> over_;             // by position
  std::vector<TilePlan> tile_plans_;   // by datum
  Bytes tile_bytes_ = 0;               // of the last seed
  std::uint64_t updates_to_come_ = 0;  // of all tiles
  Times set_takes_;                    // the last one that was planned
  std::vector<Bytes> held_;            // scratch
  std::vector<AheadTask*> found_, unlocked_;
};

}  // namespace

std::unique_ptr<Policy> make_blocks() { return std::make_unique<Blocks>(); }

}  // namespace fairlead::schedule
