// Tasks of several workers on real threads: those that stand aside sleep, and the thread of the one that runs
// the body may use all their cores, as may the threads that the body starts.
#include <fairlead/codelet_info.hpp>

#include "backend/cpu/affinity.hpp"
#include "backend/cpu/worker_threads.hpp"

namespace fairlead::backend {

void WorkerThreads::gathered(Task&, std::span<const WorkerId> workers) {
  Worker& leader = *workers_[index(workers.front())];
  // Its thread has nothing to do, and reads this only after it has found the task.
  leader.team_units.clear();
  for (const WorkerId id : workers) {
    for (const unsigned unit : unit_of(index(id))) leader.team_units.push_back(unit);
    if (id != workers.front()) workers_[index(id)]->aside.store(true, std::memory_order_relaxed);
  }
}

void WorkerThreads::dissolved(std::span<const WorkerId> workers) {
  for (const WorkerId id : workers) workers_[index(id)]->aside.store(false, std::memory_order_relaxed);
}

/// The body of a task that may span several workers, and does so if a core runs it.
void WorkerThreads::run_together(const Worker& worker, const Implementation& implementation,
                                 TaskContext& context) {
  if (worker.kind != WorkerKind::cpu) return implementation.run(implementation.body.get(), context);
  const Team team(context.task->width, worker.team_units);
  context.team = &team;
  const RunOnlyOnForNow widened(worker.team_units);
  implementation.run(implementation.body.get(), context);
}

}  // namespace fairlead::backend
