// An order of tasks: which must come before which, whether that is possible, and who is ordered with whom.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "front/unrolled/graph.hpp"

namespace fairlead::unrolled {

/// `after` begins when `before` is over, because of a flow or since it overwrites what `before` reads.
struct Precedence {
  TaskId before = 0, after = 0;
  bool overwrites = false;
};

class Order {
 public:
  Order(std::size_t tasks, const std::vector<Precedence>& all);

  bool has_cycle() const noexcept { return sorted_ < rank_.size(); }
  /// The shortest that a limited search finds, each task once: the last comes before the first.
  std::vector<TaskId> cycle() const;
  /// Whether the step is there only because of what is overwritten.
  bool overwrites(TaskId before, TaskId after) const;

  /// Of orders without a cycle: a task's rank is higher than those of all that come before it.
  std::uint32_t rank(TaskId task) const noexcept { return rank_[task]; }
  /// Whether `before` comes before `after`; nothing if the search would take longer than what is left for searches.
  std::optional<bool> comes_before(TaskId before, TaskId after);

 private:
  std::span<const std::uint32_t> after(TaskId task) const {
    return {targets_.data() + first_[task], first_[task + 1] - first_[task]};
  }

  std::vector<std::uint32_t> first_;    // of each task, in targets_
  std::vector<std::uint32_t> targets_;  // the highest bit: because of what is overwritten
  std::vector<std::uint32_t> rank_;
  std::size_t sorted_ = 0;
  std::vector<std::uint32_t> seen_;  // by which search
  std::uint32_t search_ = 0;
  std::size_t steps_left_ = 300'000'000;
};

}  // namespace fairlead::unrolled
