// The lists of ready tasks: one for each bucket and memory node. Bramas 2019, "2D task-list grid by splitting the
// buckets per memory nodes".
//
// A task that some workers of its bucket's kinds cannot run, for instance because it is restricted to some nodes, has a
// separate list within its cell. So workers do not scan tasks that they cannot run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "schedule/heteroprio/affinity.hpp"

namespace fairlead::schedule::heteroprio {

struct QueuedTask {
  Task* task = nullptr;
  std::uint64_t order = 0;                     ///< order of arrival
  BestNodeDifference::Winners best_columns{};  ///< at the push; only if affinities are compared
};

/// The end of a list at which a worker takes a task. The paper leaves open where thieves take from. Here they take from
/// the back: the front was released first, and the list's own node takes it next.
enum class QueueEnd : std::uint8_t { front, back };

class Cell {
 public:
  bool empty() const noexcept { return size_ == 0; }

  /// `groups`: bit g is set if workers of group g can run the task.
  void push(const QueuedTask& waiting, std::uint64_t groups) {
    auto list = lists_.begin();
    while (list != lists_.end() && list->groups != groups) ++list;
    if (list == lists_.end()) list = lists_.insert(list, List{groups, {}});
    list->tasks.push_back(waiting);
    ++size_;
  }

  /// Removes the oldest or newest task that the group can run and that satisfies the condition; returns an entry
  /// without a task if there is none.
  template <class Condition>
  QueuedTask take(QueueEnd end, std::uint64_t group, Condition&& condition) {
    List* best = nullptr;
    std::size_t at = 0;
    for (List& list : lists_) {
      if ((list.groups & group) == 0) continue;
      for (std::size_t i = 0; i < list.tasks.size(); ++i) {
        const std::size_t here = end == QueueEnd::front ? i : list.tasks.size() - 1 - i;
        if (!condition(*list.tasks[here].task)) continue;
        if (best == nullptr || (list.tasks[here].order < best->tasks[at].order) == (end == QueueEnd::front)) {
          best = &list;
          at = here;
        }
        break;
      }
    }
    if (best == nullptr) return {};
    const QueuedTask taken = best->tasks[at];
    best->tasks.erase(best->tasks.begin() + static_cast<std::ptrdiff_t>(at));
    --size_;
    return taken;
  }

 private:
  struct List {
    std::uint64_t groups;
    std::deque<QueuedTask> tasks;  // oldest first
  };
  std::vector<List> lists_;  // usually one
  std::size_t size_ = 0;
};

/// Cells, by bucket and column.
class TaskListGrid {
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
