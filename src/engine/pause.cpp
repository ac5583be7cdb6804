// See pause.hpp.
#include "engine/pause.hpp"

#include <algorithm>

namespace fairlead::engine {

void Pause::begin() {
  if (requested_) return;
  requested_ = true;
  for (const WorkerInfo& worker : view_.workers()) pipelines_.set_aside(worker.id, true);
  fast_path_.close();
}

void Pause::end() {
  if (!requested_) return;
  requested_ = false;
  for (const WorkerInfo& worker : view_.workers()) pipelines_.set_aside(worker.id, false);
  memory_.note_change();  // tasks that wait for memory are tried again
}

/// One recall for each worker at a time, the last task first: the worker may start the first one meanwhile.
void Pause::advance() {
  for (const WorkerInfo& worker : view_.workers()) {
    const Pipeline& pipeline = pipelines_[worker.id];
    if (pipeline.recalls != 0 || pipeline.staged == 0) continue;
    Task* last = nullptr;
    std::size_t staged = 0;
    for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
      Task& task = pipeline.tasks[i];
      if (task.state != TaskState::staged) continue;
      ++staged;
      if (!task.has(TaskFlag::recalled)) last = &task;
    }
    // A single launched task of a worker that takes tasks most likely runs.
    if (last != nullptr && (staged > 1 || !pipeline.present)) launcher_.recall(*last);
  }
}

bool Pause::is_complete() const noexcept {
  return requested_ && !fast_path_.pinned() && std::ranges::all_of(pipelines_.all(), [](const Pipeline& one) {
           return one.staged == 0 && one.recalls == 0;
         });
}

}  // namespace fairlead::engine
