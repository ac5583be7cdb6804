// The order of steps that keeps the engine's view consistent: post the finished, release their successors,
// enter.
#include "engine/reporter.hpp"

#include <fairlead/codelet_info.hpp>

namespace fairlead::engine {

Reporter::Reporter(Engine& engine, World& world, graph::Graph& graph, std::uint16_t id)
    : engine_(engine), world_(world), id_(id), recycler_(graph.tasks(), graph.epochs()) {}

namespace {
/// What a body was given goes when the task ends: after wait() nothing of it is left, and the codelet may go,
/// too.
void destroy_closure(Task& task) {
  if (task.codelet->destroy_closure != nullptr) task.codelet->destroy_closure(task.closure.data());
}
}  // namespace

void Reporter::finished(Task& task, Time at, Duration duration) {
  destroy_closure(task);
  task.kind = task.failure == nullptr ? EventKind::task_finished : EventKind::task_failed;
  task.at = at;
  task.duration = duration;
  task.reporter = id_;
  batch_.push_back(&task);
}

void Reporter::add(EventChain& events) noexcept {
  for (Event* event = events.take_in_order(); event != nullptr;) {
    Event* following = event->next;
    events_.append(*event);
    event = following;
  }
}

/// The tasks are over and told; their successors follow. Consecutive tasks of one source are completed
/// together.
void Reporter::complete(std::vector<Task*>& tasks) {
  for (std::size_t begin = 0; begin < tasks.size();) {
    TaskSource* source = tasks[begin]->source;
    std::size_t end = begin + 1;
    while (end < tasks.size() && tasks[end]->source == source) ++end;
    source->completed(std::span(tasks).subspan(begin, end - begin), events_, recycler_);
    begin = end;
  }
}

void Reporter::report() {
  if (batch_.empty()) return serve();
  for (Task* task : batch_) finished_.append(*task);
  if (engine_.planted_bug() == memory::PlantedBug::successors_told_first) {
    complete(batch_);
    engine_.enter(events_, commands_);
  }
  engine_.finish(
      finished_, events_,
      [this] {
        if (engine_.planted_bug() != memory::PlantedBug::successors_told_first) complete(batch_);
      },
      commands_);
  for (Task* task : batch_) unapplied_.push_back(task);
  batch_.clear();
  carry_out();
}

void Reporter::serve() {
  engine_.enter(events_, commands_);
  carry_out();
}

void Reporter::serve_surely() {
  engine_.enter_surely(events_, commands_);
  carry_out();
}

void Reporter::carry_out() {
  while (!commands_.empty()) {
    for (memory::Copy* copy : commands_.copies) world_.start(*copy);
    for (const WorkerId worker : commands_.launched)
      if (index(worker) != id_) world_.launched(worker);  // a worker that carries out is awake itself
    if (commands_.stopped) world_.stopped();
    cancelled_.swap(commands_.completions);
    commands_.clear();
    if (!cancelled_.empty()) {
      for (Task* task : cancelled_) destroy_closure(*task);
      complete(cancelled_);
      for (Task* task : cancelled_) recycler_.recycle(*task);
      cancelled_.clear();
      engine_.enter(events_, commands_);
    }
  }
  recycle_applied();
}

void Reporter::recycle_applied() {
  const std::uint64_t applied = engine_.applied(id_);
  while (forgotten_ < applied && !unapplied_.empty()) {
    recycler_.recycle(*unapplied_.front());
    unapplied_.pop_front();
    ++forgotten_;
  }
}

}  // namespace fairlead::engine
