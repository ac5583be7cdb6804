// Computes longest paths from the last submitted task backwards: successors always have higher ids.
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

/// The duration on the fastest kind of worker for the task, ns.
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
  WindowTask& ahead = graph_.submitted(task);
  ahead.work = shortest(task);
  ahead.level = static_cast<std::uint64_t>(ahead.work);
  ++unfinished_;
  if (++new_tasks_ >= std::max(fewest_new, unfinished_ / 4)) compute();
}

// Also reads the models' estimates again: this event occurs about once per half window.
void BottomLevels::horizon_closed() {
  graph_.for_each_backwards([&](WindowTask& ahead) { ahead.work = shortest(*ahead.task); });
  compute();
}

void BottomLevels::task_finished(const Task& task) {
  if (graph_.find(task.id) == nullptr) return;
  --unfinished_;
  graph_.finished(task, unlocked_);
}

void BottomLevels::compute() {
  new_tasks_ = 0;
  ++computed_;
  graph_.for_each_backwards([](WindowTask& ahead) {
    std::uint64_t after = ahead.next == nullptr ? 0 : ahead.next->level;
    for (const WindowTask* later : ahead.successors) after = std::max(after, later->level);
    ahead.level = after + static_cast<std::uint64_t>(ahead.work);
  });
}

}  // namespace fairlead::schedule
