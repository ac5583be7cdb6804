// Estimates, and the selection between implementations.
#include "engine/task_durations.hpp"

#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <utility>

#include "engine/task_footprint.hpp"

namespace fairlead::engine {

TaskDurations::TaskDurations(const Topology& topology, const memory::Memory& memory, Given given,
                             const model::KeptDurations& kept, bool first_bodies)
    : memory_(memory), given_(std::move(given)), first_bodies_(first_bodies) {
  for (const WorkerSpec& worker : topology.workers) {
    processors_.emplace_back(worker.kind, worker.processor);
    const auto same = [&](WorkerId other) {
      return processors_[index(other)].key() == processors_.back().key();
    };
    // Emulated devices compute on cores, so they are not counted.
    const bool is_device = worker.kind == WorkerKind::cuda || worker.kind == WorkerKind::opencl;
    if (is_device && std::ranges::none_of(accelerators_, same))
      accelerators_.push_back(static_cast<WorkerId>(processors_.size() - 1));
  }
  model_.start_with(kept);
}

bool TaskDurations::has_several(const Task& task, WorkerId worker) const noexcept {
  return task.codelet->choices != 0 && task.codelet->has_choice(processors_[index(worker)].kind());
}

model::Footprint TaskDurations::footprint(const Task& task) const { return footprint_of(task, memory_); }

model::Estimate TaskDurations::there(const Task& task, WorkerId worker) const {
  const model::Processor& processor = processors_[index(worker)];
  return has_choice(task, worker) ? chooser_.estimate(*task.codelet, processor, footprint(task))
                                  : model_.estimate(*task.codelet, processor, footprint(task));
}

namespace {
// an unknown core is expected to take this many times as long as the fastest accelerator
constexpr int unknown_core = 100;
}  // namespace

Duration TaskDurations::estimate(const Task& task, WorkerId worker) const {
  if (given_) return given_(task, worker);
  const model::Estimate here = there(task, worker);
  if (here.basis != model::Basis::nothing || !is_core(worker)) [[likely]]
    return here.duration;
  Duration least = Duration::max();
  for_each_accelerator(task, [&](const model::Estimate& other) { least = std::min(least, other.duration); });
  return least == Duration::max() ? here.duration : least * unknown_core;
}

bool TaskDurations::known(const Task& task, WorkerId worker) const {
  if (given_) return true;
  const model::Estimate here = there(task, worker);
  if (here.known()) [[likely]]
    return true;
  if (here.basis != model::Basis::few || !is_core(worker)) return false;
  // Accelerators are not judged by a few tasks: their first tasks load kernels and initialize libraries.
  bool far_slower = false;
  for_each_accelerator(task, [&](const model::Estimate& other) {
    far_slower = far_slower ||
                 (other.basis >= model::Basis::few && here.duration > other.duration * model::far_slower);
  });
  return far_slower;
}

bool TaskDurations::is_core(WorkerId worker) const noexcept {
  return processors_[index(worker)].kind() == WorkerKind::cpu;
}

template <class Act>
void TaskDurations::for_each_accelerator(const Task& task, const Act& act) const {
  for (const WorkerId worker : accelerators_)
    if ((task.codelet->kinds >> static_cast<unsigned>(processors_[index(worker)].kind()) & 1u) != 0)
      act(there(task, worker));
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
  if (model_.should_record(*task.codelet, processor))
    model_.record(*task.codelet, processor, footprint(task), duration);
}

}  // namespace fairlead::engine
