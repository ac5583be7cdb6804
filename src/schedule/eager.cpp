// EAGER: tasks in the order in which they become ready; any worker takes the oldest that it can run.
// Gonthier, Marchal, Thibault 2023, section 4.1. With order=program: of those that are ready the one that was
// submitted first.
#include "schedule/eager.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/index/append_reads.hpp"

namespace fairlead::schedule {
namespace {

class EagerByRelease final : public Policy {
 public:
  void ready(Task& task, WorkerId) override { queue_.push_back(&task); }

  Task* pick(WorkerId worker, bool) override {
    std::uint64_t& next = next_[index(worker)];
    for (next = std::max(next, first_); next < first_ + queue_.size(); ++next) {
      Task*& slot = queue_[next - first_];
      if (slot == nullptr || !view().can_run(*slot, worker)) continue;
      Task* task = std::exchange(slot, nullptr);
      while (!queue_.empty() && queue_.front() == nullptr) {
        queue_.pop_front();
        ++first_;
      }
      return task;
    }
    return nullptr;
  }

  /// The data of the tasks at the front.
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    std::size_t written = 0;
    for (std::uint64_t i = std::max(next_[index(worker)], first_); i < first_ + queue_.size(); ++i) {
      const Task* task = queue_[i - first_];
      if (task == nullptr || !view().can_run(*task, worker)) continue;
      if (!append_reads(*task, out, written)) break;
    }
    return written;
  }

 private:
  void attached() override { next_.assign(view().workers().size(), 0); }

  // oldest first; null: taken out of turn, by a worker that could not run older ones
  std::deque<Task*> queue_;
  std::uint64_t first_ = 0;          // the position of the queue's front, counted since the beginning
  std::vector<std::uint64_t> next_;  // by worker: it can run nothing before this position
};

class EagerByProgram final : public Policy {
 public:
  void ready(Task& task, WorkerId) override { queue_.emplace(task.id, &task); }

  Task* pick(WorkerId worker, bool) override {
    for (auto at = queue_.begin(); at != queue_.end(); ++at)
      if (Task* task = at->second; view().can_run(*task, worker)) {
        queue_.erase(at);
        return task;
      }
    return nullptr;
  }

  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    std::size_t written = 0;
    for (const auto& [id, task] : queue_)
      if (view().can_run(*task, worker) && !append_reads(*task, out, written)) break;
    return written;
  }

 private:
  std::map<TaskId, Task*> queue_;
};

}  // namespace

std::unique_ptr<Policy> make_eager(const PolicyOptions& options) {
  constexpr std::array<std::string_view, 2> orders{"release", "program"};
  if (options.choice("order", orders) == 0) return std::make_unique<EagerByRelease>();
  return std::make_unique<EagerByProgram>();
}

}  // namespace fairlead::schedule
