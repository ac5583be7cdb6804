// The partial order of tasks: precedences, cycles, and whether two tasks are ordered.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "front/unrolled/task_graph.hpp"

namespace fairlead::unrolled {

/// `after` starts when `before` has finished, because of a flow or because it overwrites what `before` reads.
struct Precedence {
  TaskId before = 0, after = 0;
  bool overwrites = false;
};

/// Built once from all precedences. Not thread-safe.
class PartialOrder {
 public:
  PartialOrder(std::size_t tasks, const std::vector<Precedence>& all);

  bool has_cycle() const noexcept { return sorted_ < rank_.size(); }
  /// A short cycle, the shortest that a limited search finds. The last task precedes the first.
  std::vector<TaskId> cycle() const;
  /// True if the precedence exists only because a value is overwritten.
  bool overwrites(TaskId before, TaskId after) const;

  /// Without a cycle: the rank of a task is higher than those of all its predecessors.
  std::uint32_t rank(TaskId task) const noexcept { return rank_[task]; }
  /// Whether `before` precedes `after`; nothing if the limit on the work of all searches is exhausted.
  std::optional<bool> comes_before(TaskId before, TaskId after);

 private:
  std::span<const std::uint32_t> after(TaskId task) const {
    return {targets_.data() + first_[task], first_[task + 1] - first_[task]};
  }

  std::vector<std::uint32_t> first_;    // of each task, in targets_
  std::vector<std::uint32_t> targets_;  // the highest bit: because of an overwritten value
  std::vector<std::uint32_t> rank_;
  std::size_t sorted_ = 0;
  std::vector<std::uint32_t> seen_;  // by task: the search that visited it last
  std::uint32_t search_ = 0;
  std::size_t steps_left_ = 300'000'000;
};

}  // namespace fairlead::unrolled
