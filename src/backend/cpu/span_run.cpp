// Tasks that span several workers. The other workers of the team sleep; the leader's thread, and threads that the
// body starts, may use all their cores.
#include <fairlead/codelet_info.hpp>

#include "backend/cpu/affinity.hpp"
#include "backend/cpu/worker_threads.hpp"

namespace fairlead::backend {

void WorkerThreads::gathered(Task&, std::span<const WorkerId> workers) {
  Worker& leader = *workers_[index(workers.front())];
  // The leader's thread is idle and reads this only after it has received the task.
  leader.team_units.clear();
  for (const WorkerId id : workers) {
    for (const unsigned unit : unit_of(index(id))) leader.team_units.push_back(unit);
    if (id != workers.front()) workers_[index(id)]->in_span.store(true, std::memory_order_relaxed);
  }
}

void WorkerThreads::span_released(std::span<const WorkerId> workers) {
  for (const WorkerId id : workers) workers_[index(id)]->in_span.store(false, std::memory_order_relaxed);
}

/// Runs the body of a task that may span several workers; only cores do.
void WorkerThreads::run_span(const Worker& worker, const Implementation& implementation,
                             TaskContext& context) {
  if (worker.kind != WorkerKind::cpu) return implementation.run(implementation.body.get(), context);
  const Team team(context.task->width, worker.team_units);
  context.team = &team;
  const ScopedAffinity widened(worker.team_units);
  implementation.run(implementation.body.get(), context);
}

}  // namespace fairlead::backend
