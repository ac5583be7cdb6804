// State changes in pipelines, and the accounting of idle time.
#include "engine/pipelines.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::engine {

bool Pipelines::left_behind() noexcept {
  return left_behind_ && (left_behind_ = std::ranges::any_of(pipelines_, [](const Pipeline& pipeline) {
                            return !pipeline.present && pipeline.staged != 0;
                          }));
}

bool Pipelines::arrived(WorkerId worker, Time now, Duration in_fast_path) noexcept {
  Pipeline& pipeline = at(worker);
  if (pipeline.lost) return false;
  pipeline.present = true;
  pipeline.idle_since = now;
  pipeline.fast_path_busy_before = in_fast_path;
  return !std::exchange(pipeline.ever_present, true);
}

void Pipelines::left(WorkerId worker) noexcept {
  at(worker).present = false;
  left_behind_ = true;
}

bool Pipelines::lost(WorkerId worker) noexcept {
  left(worker);
  at(worker).lost = any_lost_ = true;
  return !std::exchange(at(worker).ever_present, true);
}

void Pipelines::account_span_help(WorkerId worker, Duration task, Time now, Duration in_fast_path) noexcept {
  Pipeline& pipeline = at(worker);
  if (!pipeline.present) return;
  const Duration idle =
      std::max(Duration{}, now - pipeline.idle_since - (in_fast_path - pipeline.fast_path_busy_before));
  const Duration busy = std::min(task, idle);
  pipeline.busy += busy;
  pipeline.waiting_for_tasks += idle - busy;
  pipeline.idle_since = now;
  pipeline.fast_path_busy_before = in_fast_path;
}

void Pipelines::pick(Task& task, WorkerId worker) noexcept {
  task.state = TaskState::picked;
  task.worker = worker;
  Pipeline& pipeline = at(worker);
  pipeline.tasks.push(task);
  ++pipeline.unadmitted;
  ++unadmitted_;
  ++tasks_;
}

void Pipelines::admitted(const Task& task) noexcept {
  --at(task.worker).unadmitted;
  --unadmitted_;
}

Pipelines::Idle Pipelines::stage(Task& task, Time now, Duration in_fast_path) noexcept {
  Pipeline& pipeline = at(task.worker);
  task.state = TaskState::staged;
  left_behind_ |= !pipeline.present;
  if (pipeline.staged++ != 0 || !pipeline.present) return {};
  const Duration idle =
      std::max(Duration{}, now - pipeline.idle_since - (in_fast_path - pipeline.fast_path_busy_before));
  (pipeline.lost_to_data ? pipeline.waiting_for_data : pipeline.waiting_for_tasks) += idle;
  // It may come back without having started; then this time must not be counted again.
  pipeline.fast_path_busy_before = in_fast_path;
  return {std::exchange(pipeline.idle_since, now), idle, pipeline.lost_to_data};
}

void Pipelines::unstage(Task& task) noexcept {
  --at(task.worker).staged;
  task.state = TaskState::admitted;
}

bool Pipelines::over(Task& task, Time now, Duration in_fast_path) noexcept {
  take_out(task);
  Pipeline& pipeline = at(task.worker);
  pipeline.busy += task.duration;
  ++pipeline.tasks_run;
  if (pipeline.staged != 0) return false;
  pipeline.idle_since = now;
  pipeline.fast_path_busy_before = in_fast_path;
  return pipeline.lost_to_data = !pipeline.tasks.empty() && !pipeline.aside;
}

void Pipelines::take_out(Task& task) noexcept {
  Pipeline& pipeline = at(task.worker);
  pipeline.tasks.remove(task);
  --tasks_;
  if (task.state == TaskState::staged) --pipeline.staged;
  if (task.state != TaskState::picked) return;
  --pipeline.unadmitted;
  --unadmitted_;
}

void Pipelines::move(Task& task, WorkerId worker) noexcept {
  Pipeline& from = at(task.worker);
  Pipeline& to = at(worker);
  from.tasks.remove(task);
  to.tasks.push(task);
  if (task.state == TaskState::picked) {
    --from.unadmitted;
    ++to.unadmitted;
  }
  task.worker = worker;
}

}  // namespace fairlead::engine
