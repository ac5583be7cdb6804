// Topological order (Kahn 1962), and limited searches for cycles and for paths.
#include "front/unrolled/partial_order.hpp"

#include <algorithm>

namespace fairlead::unrolled {

namespace {

constexpr std::uint32_t overwriting = 1U << 31U;
constexpr std::uint32_t unsorted = UINT32_MAX;
constexpr std::size_t cycle_steps = 50'000'000;

TaskId target_of(std::uint32_t target) { return target & ~overwriting; }

}  // namespace

PartialOrder::PartialOrder(std::size_t tasks, const std::vector<Precedence>& all)
    : first_(tasks + 1), targets_(all.size()), rank_(tasks, unsorted), seen_(tasks) {
  for (const Precedence& it : all) ++first_[it.before + 1];
  for (std::size_t i = 0; i < tasks; ++i) first_[i + 1] += first_[i];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1), missing(tasks);
  for (const Precedence& it : all) {
    targets_[next[it.before]++] = it.after | (it.overwrites ? overwriting : 0U);
    ++missing[it.after];
  }
  std::vector<TaskId> ready;
  for (TaskId task = 0; task < tasks; ++task)
    if (missing[task] == 0) ready.push_back(task);
  for (; sorted_ < ready.size(); ++sorted_) {
    const TaskId task = ready[sorted_];
    rank_[task] = static_cast<std::uint32_t>(sorted_);
    for (const std::uint32_t target : after(task))
      if (--missing[target_of(target)] == 0) ready.push_back(target_of(target));
  }
}

std::vector<TaskId> PartialOrder::cycle() const {
  // A task without a rank is in a cycle or behind one; one that reaches itself is in a cycle.
  std::vector<TaskId> best, parent(rank_.size()), queue;
  std::vector<std::uint32_t> seen(rank_.size());
  std::size_t steps = 0;
  for (TaskId start = 0; start < rank_.size(); ++start) {
    if (rank_[start] != unsorted) continue;
    if (steps > cycle_steps && !best.empty()) break;
    queue.assign(1, start);
    seen[start] = start + 1;
    bool found = false;
    for (std::size_t i = 0; i < queue.size() && !found; ++i)
      for (const std::uint32_t target : after(queue[i])) {
        ++steps;
        const TaskId next = target_of(target);
        if (next == start) {
          std::vector<TaskId> way;
          for (TaskId at = queue[i]; at != start; at = parent[at]) way.push_back(at);
          way.push_back(start);
          std::ranges::reverse(way);
          if (best.empty() || way.size() < best.size()) best = std::move(way);
          found = true;
          break;
        }
        if (seen[next] == start + 1 || rank_[next] != unsorted) continue;
        seen[next] = start + 1;
        parent[next] = queue[i];
        queue.push_back(next);
      }
    if (best.size() == 1) break;
  }
  return best;
}

bool PartialOrder::overwrites(TaskId before, TaskId task) const {
  const auto all = after(before);
  return std::ranges::find(all, task) == all.end();
}

std::optional<bool> PartialOrder::comes_before(TaskId before, TaskId wanted) {
  if (rank_[before] >= rank_[wanted]) return false;
  std::vector<TaskId> stack(1, before);
  seen_[before] = ++search_;
  while (!stack.empty()) {
    const TaskId task = stack.back();
    stack.pop_back();
    for (const std::uint32_t target : after(task)) {
      if (steps_left_ == 0) return std::nullopt;
      --steps_left_;
      const TaskId next = target_of(target);
      if (next == wanted) return true;
      if (seen_[next] == search_ || rank_[next] > rank_[wanted]) continue;
      seen_[next] = search_;
      stack.push_back(next);
    }
  }
  return false;
}

}  // namespace fairlead::unrolled
