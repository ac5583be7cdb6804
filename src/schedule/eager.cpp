// EAGER: tasks in the order in which they become ready; any worker takes the oldest that it can run.
// Gonthier, Marchal, Thibault 2023, section 4.1.
#include "schedule/eager.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "schedule/append_reads.hpp"

namespace fairlead::schedule {
namespace {

class Eager final : public Policy {
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

  std::deque<Task*>
      queue_;  // oldest first; null: taken out of turn, by a worker that could not run older ones
  std::uint64_t first_ = 0;          // the position of the queue's front, counted since the beginning
  std::vector<std::uint64_t> next_;  // by worker: it can run nothing before this position
};

}  // namespace

std::unique_ptr<Policy> make_eager() { return std::make_unique<Eager>(); }

}  // namespace fairlead::schedule
