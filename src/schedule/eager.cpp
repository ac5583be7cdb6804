// EAGER: tasks in the order in which they become ready; a worker takes the oldest task that it can run. Gonthier,
// Marchal, Thibault 2023, section 4.1. With order=program it takes the ready task that was submitted first. No data are
// prefetched, because the worker of a task is unknown until a worker picks it.
#include "schedule/eager.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

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

 private:
  void attached() override { next_.assign(view().workers().size(), 0); }

  // Oldest first. Null: already taken, by a worker that could not run the older ones.
  std::deque<Task*> queue_;
  std::uint64_t first_ = 0;          // position of the queue's front, counted from the start of the run
  std::vector<std::uint64_t> next_;  // by worker: no task before this position can run on it
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
