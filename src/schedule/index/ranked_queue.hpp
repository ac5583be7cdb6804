// Ready tasks by a rank that a policy computes, and may compute anew for all of them: highest rank first,
// then the user's priority, then the order in which they came.
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
    std::uint64_t order;  ///< of arrival
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
  /// Gives every task the rank that f(task) returns.
  template <class F>
  void rank_again(F&& f) {
    for (Item& item : heap_) item.rank = f(*item.task);
    std::ranges::make_heap(heap_, LessUrgent{});
  }
  /// Appends the most urgent tasks, nearly in order, about `most` of them: exact for the first.
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
