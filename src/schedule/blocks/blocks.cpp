// The policy: its plan, one set of tiles after the other, and what ready tasks, eviction and prefetch take
// from it.
#include "schedule/blocks/blocks.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "schedule/blocks/tile_set.hpp"
#include "schedule/lookahead.hpp"

namespace fairlead::schedule {
namespace {

using Position = std::uint64_t;  // in the plan: when a task is to run
constexpr Position never = ~Position{0};

/// When the plan uses a datum.
struct Uses {
  std::vector<Position> at;  // increasing; those before `next` are over
  std::size_t next = 0;
};

/// Rounded down (Newton).
Bytes square_root(Bytes n) noexcept {
  Bytes root = n, next = n / 2 + n % 2;
  while (next < root) {
    root = next;
    next = (root + n / root) / 2;
  }
  return root;
}

class Blocks final : public Policy {
 public:
  Interest interests() const override { return Interest::submitted | Interest::progress; }
  std::size_t horizon() const override { return 65'536; }

  void submitted(Task& task) override { lookahead_.submitted(task); }

  void ready(Task& task, WorkerId) override {
    const AheadTask* ahead = lookahead_.find(task.id);
    if (ahead != nullptr && ahead->planned)
      planned_.emplace(ahead->position, &task);
    else
      unplanned_.emplace(task.id, &task);
  }
  void finished(Task& task, WorkerId, Duration) override { over(task); }
  void cancelled(Task& task) override { over(task); }

  Task* pick(WorkerId worker, bool must) override {
    do {
      if (Task* task = first_for(worker, planned_); task != nullptr) return task;
    } while (plan_more(must));
    // Not planned for want of memory, or planned with tasks that this worker cannot run.
    return planned_.empty() && !must ? nullptr : first_for(worker, unplanned_);
  }

  /// Belady on the plan: whose next use is furthest; what it does not use at all, least recently used first.
  DatumId victim(NodeId, Candidates& candidates) override {
    DatumId best = no_id<DatumId>;
    Position furthest = 0;
    for (DatumId datum = candidates.next(); datum != no_id<DatumId>; datum = candidates.next()) {
      const Position next = next_use(datum);
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
    return least != no_id<DatumId> && next_use(least) == never ? least : no_id<DatumId>;
  }

  /// What the first ready tasks of the plan lack.
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    const NodeId node = view().workers()[index(worker)].node;
    std::size_t written = 0;
    int looked_at = 0;
    for (const auto& [position, task] : planned_) {
      if (looked_at++ == most_looked_ahead) break;
      if (!view().can_run(*task, worker)) continue;
      for (const Access& access : task->accesses()) {
        if (written == out.size()) return written;
        if (!reads(access.mode) || view().residency(access.datum, node) != ReplicaState::absent) continue;
        const auto before = out.first(written);
        if (std::ranges::find(before, access.datum) == before.end()) out[written++] = access.datum;
      }
    }
    return written;
  }

 private:
  void attached() override {
    tiles_.attach(view(), lookahead_);
    capacity_ = view().nodes().empty() ? 0 : view().nodes().front().capacity;
    for (const NodeInfo& node : view().nodes()) capacity_ = std::min(capacity_, node.capacity);
  }

  Position next_use(DatumId datum) {
    if (index(datum) >= uses_.size()) return never;
    Uses& uses = uses_[index(datum)];
    while (uses.next < uses.at.size() && over_[uses.at[uses.next]]) ++uses.next;
    return uses.next == uses.at.size() ? never : uses.at[uses.next];
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

  /// Plans a set of tiles around the oldest task that is ready and in no plan. Its predecessors are finished,
  /// so the plan always begins with something that can run. False if there is none, or no room.
  bool plan_more(bool must) {
    if (unplanned_.empty()) return false;
    Task& oldest = *unplanned_.begin()->second;
    // First what was planned before; but its end leaves workers without tasks, and the disk idle. Asked
    // before a seed is looked for, which may take long: workers of full nodes ask again and again.
    const AheadTask* first = lookahead_.find(oldest.id);
    if (!must && first != nullptr && first->tile != no_id<DatumId> && tile_bytes_ != 0 &&
        held_ > room_for(tile_bytes_) / 10 * 3)
      return false;
    AheadTask* seed = find_seed();
    if (seed == nullptr) {
      plan_alone(oldest);
      return true;
    }
    tile_bytes_ = std::max<Bytes>(1, view().bytes(seed->tile));
    const Bytes room = room_for(tile_bytes_);
    if (held_ > room / 10 * 3 && !must) return false;
    tiles_.grow(*seed, room - std::min(room, held_), found_);
    for (AheadTask* ahead : found_) {
      ahead->position = append(*ahead);
      const auto ready = unplanned_.find(ahead->task->id);
      if (ready == unplanned_.end()) continue;
      planned_.emplace(ahead->position, ready->second);
      unplanned_.erase(ready);
    }
    if (!seed->planned) plan_alone(*seed->task);  // a commutative update may run before earlier ones
    return true;
  }

  /// For tiles of a plan: inputs stream past them, a line of them and some for the pipeline.
  Bytes room_for(Bytes tile) const noexcept {
    const Bytes line = square_root(capacity_ / tile);
    return capacity_ - std::min(capacity_, (line + 2) * tile);
  }

  /// A ready task that belongs to no set of tiles.
  void plan_alone(Task& task) {
    Position position = over_.size();
    if (AheadTask* ahead = lookahead_.find(task.id); ahead != nullptr) {
      ahead->planned = true;
      for (AheadTask* later : ahead->successors) ++later->promised;
      ahead->position = position = append(*ahead);
    } else {
      over_.push_back(true);
    }
    unplanned_.erase(task.id);
    planned_.emplace(position, &task);
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
      if (index(ahead.tile) >= updates_to_come_.size()) updates_to_come_.resize(2 * index(ahead.tile) + 1, 0);
      if (updates_to_come_[index(ahead.tile)]++ == 0) held_ += view().bytes(ahead.tile);
    }
    for (const Access& access : ahead.task->accesses()) {
      if (index(access.datum) >= uses_.size()) uses_.resize(2 * index(access.datum) + 1);
      Uses& uses = uses_[index(access.datum)];
      if (uses.next > 32 && uses.next > uses.at.size() / 2) {
        uses.at.erase(uses.at.begin(), uses.at.begin() + static_cast<std::ptrdiff_t>(uses.next));
        uses.next = 0;
      }
      uses.at.push_back(position);
    }
    return position;
  }

  void over(const Task& task) {
    if (const AheadTask* ahead = lookahead_.find(task.id); ahead != nullptr && ahead->planned) {
      over_[ahead->position] = true;
      if (ahead->tile != no_id<DatumId> && --updates_to_come_[index(ahead->tile)] == 0)
        held_ -= view().bytes(ahead->tile);
    }
    lookahead_.finished(task, unlocked_);
  }

  static constexpr int most_looked_ahead = 16;  // tasks; asked often
  static constexpr int most_steps_for_seed = 50'000;

  Lookahead lookahead_;
  blocks::TileSet tiles_;
  std::map<Position, Task*> planned_;  // ready ones
  std::map<TaskId, Task*> unplanned_;  // ready, in no plan; oldest first
  std::vector<bool> over_;             // by position
  std::vector<Uses> uses_;             // by datum
  Bytes capacity_ = 0;
  Bytes tile_bytes_ = 0;                        // of the last seed
  Bytes held_ = 0;                              // tiles of the plan with updates to come
  std::vector<std::uint32_t> updates_to_come_;  // by datum: planned and not over
  std::vector<AheadTask*> found_, unlocked_;
};

}  // namespace

std::unique_ptr<Policy> make_blocks() { return std::make_unique<Blocks>(); }

}  // namespace fairlead::schedule
