// Where ready tasks wait: a list for each bucket and memory node. Bramas 2019, "2D task-list grid by
// splitting the buckets per memory nodes".
//
// A task that not all workers of the kinds that visit its bucket can run, because it may not be on some nodes
// for instance, is in a list of its own beside the others of its cell: nobody looks through what it cannot
// run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "schedule/heteroprio/affinity.hpp"

namespace fairlead::schedule::heteroprio {

struct Waiting {
  Task* task = nullptr;
  std::uint64_t order = 0;                ///< of arrival
  BestNodeDifference::Winners winners{};  ///< at the push; if they are compared
};

/// The paper leaves open where those take a task who steal it. Here: from the back, since what is at the
/// front was released first, and its own node comes to it next.
enum class End : std::uint8_t { front, back };

class Cell {
 public:
  bool empty() const noexcept { return size_ == 0; }

  /// `groups`: bit g: workers of group g can run it.
  void push(const Waiting& waiting, std::uint64_t groups) {
    auto list = lists_.begin();
    while (list != lists_.end() && list->groups != groups) ++list;
    if (list == lists_.end()) list = lists_.insert(list, List{groups, {}});
    list->tasks.push_back(waiting);
    ++size_;
  }

  /// Removes the oldest or newest task of those for the group that satisfies the condition; one without a
  /// task if none does.
  template <class Condition>
  Waiting take(End end, std::uint64_t group, Condition&& condition) {
    List* best = nullptr;
    std::size_t at = 0;
    for (List& list : lists_) {
      if ((list.groups & group) == 0) continue;
      for (std::size_t i = 0; i < list.tasks.size(); ++i) {
        const std::size_t here = end == End::front ? i : list.tasks.size() - 1 - i;
        if (!condition(*list.tasks[here].task)) continue;
        if (best == nullptr || (list.tasks[here].order < best->tasks[at].order) == (end == End::front)) {
          best = &list;
          at = here;
        }
        break;
      }
    }
    if (best == nullptr) return {};
    const Waiting taken = best->tasks[at];
    best->tasks.erase(best->tasks.begin() + static_cast<std::ptrdiff_t>(at));
    --size_;
    return taken;
  }

 private:
  struct List {
    std::uint64_t groups;
    std::deque<Waiting> tasks;  // oldest first
  };
  std::vector<List> lists_;  // mostly one
  std::size_t size_ = 0;
};

/// Cells by bucket and column.
class Grid {
 public:
  void resize(std::size_t buckets, std::size_t columns) {
    columns_ = columns;
    cells_.resize(buckets * columns);
  }
  Cell& at(std::uint32_t bucket, Column column) noexcept { return cells_[bucket * columns_ + column]; }

 private:
  std::vector<Cell> cells_;
  std::size_t columns_ = 1;
};

}  // namespace fairlead::schedule::heteroprio
