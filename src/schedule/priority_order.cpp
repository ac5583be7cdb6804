// URGENT: one queue by the program's priorities. A worker takes a task of 0.1 ms or more only when it has none, so a
// more urgent task that becomes ready later is not behind tasks picked ahead. With several ranks, each waits for urgent
// tasks of the others, and most tasks become ready when a value arrives; tasks picked ahead would delay each step of
// the critical path. Not published.
//
// Where data are missing, the most urgent task whose data are present comes first, among the first few. The data of
// queued tasks are prefetched. If no task has its data present, a worker takes one task ahead so that its data arrive.
//
// PROGRAM-ORDER: the same, but of equally urgent tasks the one that was submitted first comes first, not the one that
// became ready first. For programs that order their tasks for the memory, such as a left-looking factorization by
// blocks of columns: tasks of later blocks become ready early, and would load their data before they can be finished.
#include "schedule/priority_order.hpp"

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

enum class Ties : bool {
  by_release,  // the task that became ready first
  by_program,  // the task that was submitted first
};

class Urgent final : public Policy {
 public:
  explicit Urgent(Ties ties) : ties_(ties) {}

  Notifications interests() const override { return Notifications::progress; }

  void ready(Task& task, WorkerId) override {
    const std::uint64_t order = ties_ == Ties::by_program ? index(task.id) : ++order_;
    queue_.emplace(std::pair(-std::int64_t{task.priority}, order), &task);
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
    if (!must && picked_count_[index(worker)] >= enough &&
        view().estimate(*task, worker) >= min_late_pick_duration)
      return nullptr;
    queue_.erase(best);
    picked_[task] = worker;
    ++picked_count_[index(worker)];
    return task;
  }

  bool keeps_pipelines_short() const override { return true; }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    UpcomingReads found(out);
    for (const auto& [key, task] : queue_)
      if (view().can_run(*task, worker) && !found.add(*task)) break;
    return found.written();
  }

 private:
  static constexpr std::size_t first_few = 32;
  // Shorter tasks delay others little, and picking each one separately costs time.
  static constexpr Duration min_late_pick_duration{100'000};

  void attached() override { picked_count_.resize(view().workers().size()); }
  void over(const Task& task) {
    const auto found = picked_.find(&task);
    if (found == picked_.end()) return;
    --picked_count_[index(found->second)];
    picked_.erase(found);
  }

  const Ties ties_;
  std::map<std::pair<std::int64_t, std::uint64_t>, Task*> queue_;  // most urgent first, then by ties_
  std::uint64_t order_ = 0;
  std::unordered_map<const Task*, WorkerId> picked_;  // picked and not finished
  std::vector<std::size_t> picked_count_;             // by worker: picked tasks that are not finished
};

}  // namespace

std::unique_ptr<Policy> make_urgent() { return std::make_unique<Urgent>(Ties::by_release); }
std::unique_ptr<Policy> make_program_order() { return std::make_unique<Urgent>(Ties::by_program); }

}  // namespace fairlead::schedule
