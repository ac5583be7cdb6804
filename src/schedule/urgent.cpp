// URGENT: one queue by the program's priorities, and a worker takes a task of 0.1 ms or more when it has none: what
// becomes ready later and is more urgent has nobody's picked tasks before it. Of several ranks each waits for the urgent tasks of others, and hears of
// most of its own when a value comes: where workers are given tasks ahead, each step of the critical path waits for these.
// Ours.
//
// Where data are missing, the most urgent task at hand comes first among the first few, what those in the queue read is
// fetched meanwhile, and if none is at hand a worker is given one ahead, so that its data come.
#include "schedule/urgent.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/index/upcoming_reads.hpp"

namespace fairlead::schedule {
namespace {

class Urgent final : public Policy {
 public:
  Interest interests() const override { return Interest::progress; }

  void ready(Task& task, WorkerId) override {
    queue_.emplace(std::pair(-std::int64_t{task.priority}, ++order_), &task);
  }
  void returned(Task& task) override {
    over(task);
    ready(task, no_id<WorkerId>);
  }
  void cancelled(Task& task) override { over(task); }
  void finished(Task& task, WorkerId, Duration) override { over(task); }

  Task* pick(WorkerId worker, bool must) override {
    const NodeId node = view().workers()[index(worker)].node;
    auto best = queue_.end();
    bool at_hand = false;
    std::size_t looked_at = 0;
    for (auto it = queue_.begin(); it != queue_.end() && !at_hand; ++it) {
      if (!view().can_run(*it->second, worker)) continue;
      at_hand = view().missing_bytes(*it->second, node) == 0;
      if (best == queue_.end() || at_hand) best = it;
      if (++looked_at == first_few) break;
    }
    if (best == queue_.end()) return nullptr;
    Task* const task = best->second;
    const std::size_t enough = at_hand ? 1 : 2;
    if (!must && has_[index(worker)] >= enough && view().estimate(*task, worker) >= worth_waiting)
      return nullptr;
    queue_.erase(best);
    picked_[task] = worker;
    ++has_[index(worker)];
    return task;
  }

  bool picks_late() const override { return true; }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    UpcomingReads found(out);
    for (const auto& [key, task] : queue_)
      if (view().can_run(*task, worker) && !found.add(*task)) break;
    return found.written();
  }

 private:
  static constexpr std::size_t first_few = 32;
  // Shorter tasks are not in the way for long, and asking for each costs.
  static constexpr Duration worth_waiting{100'000};

  void attached() override { has_.resize(view().workers().size()); }
  void over(const Task& task) {
    const auto found = picked_.find(&task);
    if (found == picked_.end()) return;
    --has_[index(found->second)];
    picked_.erase(found);
  }

  std::map<std::pair<std::int64_t, std::uint64_t>, Task*> queue_;  // most urgent first, then oldest
  std::uint64_t order_ = 0;
  std::unordered_map<const Task*, WorkerId> picked_;  // and not over
  std::vector<std::size_t> has_;                      // by worker: so many of these
};

}  // namespace

std::unique_ptr<Policy> make_urgent() { return std::make_unique<Urgent>(); }

}  // namespace fairlead::schedule
