// Launches and recalls tasks, and notifies policies of starts.
#include "engine/launcher.hpp"

namespace fairlead::engine {

void Launcher::launch(Task& task, Commands& out) {
  const WorkerId worker = task.worker;
  const Pipelines::Idle idle = pipelines_.stage(task, view_.now(), in_fast_path(worker));
  if (idle.duration > Duration{} && journal_.records()) journal_.idle(worker, idle);
  journal_.launched(task, durations_.choose(task));
  world_.launch(worker, task);
  if (pipelines_.note_launched(worker)) out.launched.push_back(worker);
  if (policy_.wants_progress() && pipelines_[worker].staged == 1) notify_started(worker);
}

void Launcher::recall(Task& task) {
  task.set(TaskFlag::recalled);
  pipelines_.asked_back(task.worker);
  journal_.recalled(task);
  world_.recall(task.worker, task);
}

void Launcher::notify_started(WorkerId worker) {
  const PickedTasks& tasks = pipelines_[worker].tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Task& task = tasks[i];
    if (task.state != TaskState::staged) continue;
    if (!task.has(TaskFlag::start_notified)) {
      task.set(TaskFlag::start_notified);
      policy_->started(task, worker);
    }
    return;
  }
}

}  // namespace fairlead::engine
