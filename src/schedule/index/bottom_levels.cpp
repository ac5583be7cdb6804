// Longest paths, from the last submitted task backwards: successors are always newer.
#include "schedule/index/bottom_levels.hpp"

#include <algorithm>

namespace fairlead::schedule {

void BottomLevels::attach(const View& view) {
  view_ = &view;
  for (const WorkerInfo& worker : view.workers())
    if (std::ranges::none_of(one_of_each_kind_,
                             [&](WorkerId id) { return view.workers()[index(id)].kind == worker.kind; }))
      one_of_each_kind_.push_back(worker.id);
}

/// On the kind of worker that is fastest for it.
std::int64_t BottomLevels::shortest(const Task& task) const {
  std::int64_t least = 0;
  for (const WorkerId worker : one_of_each_kind_) {
    if (!view_->can_run(task, worker)) continue;
    const std::int64_t duration = std::max<std::int64_t>(1, view_->estimate(task, worker).count());
    if (least == 0 || duration < least) least = duration;
  }
  return std::max<std::int64_t>(1, least);
}

void BottomLevels::submitted(Task& task) {
  AheadTask& ahead = graph_.submitted(task);
  ahead.work = shortest(task);
  ahead.level = static_cast<std::uint64_t>(ahead.work);
  ++unfinished_;
  if (++new_tasks_ >= std::max(fewest_new, unfinished_ / 4)) compute();
}

// The moment to look at what the models have learned, too: it comes once per half window.
void BottomLevels::horizon_closed() {
  graph_.for_each_backwards([&](AheadTask& ahead) { ahead.work = shortest(*ahead.task); });
  compute();
}

void BottomLevels::over(const Task& task) {
  if (graph_.find(task.id) == nullptr) return;
  --unfinished_;
  graph_.finished(task, unlocked_);
}

void BottomLevels::compute() {
  new_tasks_ = 0;
  ++computed_;
  graph_.for_each_backwards([](AheadTask& ahead) {
    std::uint64_t after = ahead.next == nullptr ? 0 : ahead.next->level;
    for (const AheadTask* later : ahead.successors) after = std::max(after, later->level);
    ahead.level = after + static_cast<std::uint64_t>(ahead.work);
  });
}

}  // namespace fairlead::schedule
