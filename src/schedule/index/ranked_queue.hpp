// Ready tasks ordered by a rank that the policy computes and may recompute for all: highest rank first, then the user's
// priority, then the order of arrival.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule {

class RankedQueue {
 public:
  struct Item {
    std::int64_t rank;
    std::uint64_t order;  ///< order of arrival
    Task* task;
  };

  struct LessUrgent {
    bool operator()(const Item& a, const Item& b) const noexcept {
      if (a.rank != b.rank) return a.rank < b.rank;
      if (a.task->priority != b.task->priority) return a.task->priority < b.task->priority;
      return a.order > b.order;
    }
  };

  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  const Item& top() const noexcept { return heap_.front(); }

  void insert(const Item& item) {
    heap_.push_back(item);
    std::ranges::push_heap(heap_, LessUrgent{});
  }
  Task* take_top() {
    std::ranges::pop_heap(heap_, LessUrgent{});
    Task* task = heap_.back().task;
    heap_.pop_back();
    return task;
  }
  /// Sets the rank of every task to f(task).
  template <class F>
  void update_ranks(F&& f) {
    for (Item& item : heap_) item.rank = f(*item.task);
    std::ranges::make_heap(heap_, LessUrgent{});
  }
  /// Appends about `most` of the most urgent tasks, approximately in order; the first one is exact.
  void peek(std::size_t most, std::vector<Item>& out) const {
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    out.insert(out.end(), heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(std::min(most, size())));
    std::sort(out.begin() + begin, out.end(),
              [](const Item& a, const Item& b) { return LessUrgent{}(b, a); });
  }

 private:
  std::vector<Item> heap_;
};

}  // namespace fairlead::schedule
