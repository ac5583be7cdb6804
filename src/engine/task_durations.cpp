// See task_durations.hpp.
#include "engine/task_durations.hpp"

#include <fairlead/codelet_info.hpp>

#include <utility>

namespace fairlead::engine {

TaskDurations::TaskDurations(const Topology& topology, const memory::Memory& memory, Given given,
                             const model::KeptDurations& kept, bool first_bodies)
    : memory_(memory), given_(std::move(given)), first_bodies_(first_bodies) {
  for (const WorkerSpec& worker : topology.workers) processors_.emplace_back(worker.kind, worker.processor);
  model_.start_with(kept);
}

bool TaskDurations::has_several(const Task& task, WorkerId worker) const noexcept {
  return task.codelet->choices != 0 && task.codelet->has_choice(processors_[index(worker)].kind());
}

model::Footprint TaskDurations::footprint(const Task& task) const {
  model::Footprint result;
  for (const Access& access : task.accesses()) result.add(memory_.datum(access.datum).bytes);
  result.add_work(task.work);
  if (task.workers_wanted != 0) result.add_workers(task.workers_wanted);
  return result;
}

model::Estimate TaskDurations::there(const Task& task, WorkerId worker) const {
  const model::Processor& processor = processors_[index(worker)];
  return has_choice(task, worker) ? chooser_.estimate(*task.codelet, processor, footprint(task))
                                  : model_.estimate(*task.codelet, processor, footprint(task));
}

Duration TaskDurations::estimate(const Task& task, WorkerId worker) const {
  return given_ ? given_(task, worker) : there(task, worker).duration;
}

bool TaskDurations::known(const Task& task, WorkerId worker) const {
  return given_ || there(task, worker).known();
}

unsigned TaskDurations::choose(Task& task) {
  if (!has_several(task, task.worker)) [[likely]]
    return 0;
  const unsigned chosen =
      first_bodies_ ? 0 : chooser_.choose(*task.codelet, processors_[index(task.worker)], footprint(task));
  task.implementation = static_cast<std::uint8_t>(chosen);
  return chosen;
}

void TaskDurations::over(const Task& task, bool succeeded) {
  const model::Processor& processor = processors_[index(task.worker)];
  if (has_choice(task, task.worker)) [[unlikely]] {
    const model::Footprint size = footprint(task);
    if (succeeded) model_.record(*task.codelet, processor, size, task.duration, task.implementation);
    chooser_.over(*task.codelet, processor, size, task.implementation, task.duration, succeeded);
  } else if (succeeded) {
    note(task, task.worker, task.duration);
  }
}

void TaskDurations::returned(Task& task) {
  if (!has_choice(task, task.worker)) return;
  chooser_.returned(*task.codelet, processors_[index(task.worker)], footprint(task),
                    std::exchange(task.implementation, no_implementation));
}

void TaskDurations::note(const Task& task, WorkerId worker, Duration duration) {
  const model::Processor& processor = processors_[index(worker)];
  if (model_.wants(*task.codelet, processor))
    model_.record(*task.codelet, processor, footprint(task), duration);
}

}  // namespace fairlead::engine
