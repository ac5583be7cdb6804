// The two variants of DARTS that take later updates of tiles into account.
#include "schedule/darts/darts_ahead.hpp"

#include <algorithm>

namespace fairlead::schedule {

void DartsAhead::submitted(Task& task) {
  WindowTask& ahead = lookahead_.submitted(task);
  const auto workers = view().workers();
  const auto able = std::ranges::find_if(
      workers, [&](const WorkerInfo& worker) { return view().can_run(task, worker.id); });
  ahead.work = able == workers.end() ? 1 : std::max<std::int64_t>(1, view().estimate(task, able->id).count());
}

void DartsAhead::finished(Task& task, WorkerId worker, Duration took) {
  Darts::finished(task, worker, took);
  lookahead_.finished(task, unlocked_);
  for (WindowTask* ahead : unlocked_) next_is_unlocked(*ahead);
}

void DartsAhead::cancelled(Task& task) {
  Darts::cancelled(task);
  lookahead_.finished(task, unlocked_);
  for (WindowTask* ahead : unlocked_) next_is_unlocked(*ahead);
}

/// Updates the first unfinished writer of the tile, after a later writer has lost its last other dependency.
void DartsAhead::next_is_unlocked(WindowTask& unlocked) {
  WindowTask* first = &unlocked;
  for (int steps = 0; first->previous != nullptr; first = first->previous)
    if (!first->unlocked() || ++steps > longest_chain) return;
  auto* held = static_cast<DartsTask*>(first->task->policy_data);
  // About to become ready itself; or the first was picked already.
  if (first == &unlocked || held == nullptr) return;
  if (variant_ == DartsVariant::chain) {
    tasks().set_bonus(*held, later_work(*first));
  } else if (held->where == DartsTask::Where::deferred) {
    wait_no_longer(*held);
  }
}

/// Makes a deferred task ready.
void DartsAhead::wait_no_longer(DartsTask& held) {
  tasks().take_out(held, false);
  tasks().count_missing(held);
  tasks().to_ready(held);
}

/// Work of the unlocked updates directly after this one, ns.
std::int64_t DartsAhead::later_work(const WindowTask& ahead) const {
  std::int64_t work = 0;
  int steps = 0;
  for (const WindowTask* next = ahead.next; next != nullptr && next->unlocked() && steps < longest_chain;
       ++steps) {
    work += next->work;
    next = next->next;
  }
  return work;
}

void DartsAhead::enter(DartsTask& held) {
  if (const WindowTask* ahead = lookahead_.find(held.task->id); ahead != nullptr) {
    if (variant_ == DartsVariant::chain) tasks().set_bonus(held, later_work(*ahead));
    if (variant_ == DartsVariant::defer && worth_waiting_for(held)) return tasks().defer(held);
  }
  Darts::enter(held);
}

/// True if the task's tile is in no memory and the tile's next update is known but still locked.
bool DartsAhead::worth_waiting_for(const DartsTask& held) {
  const WindowTask* ahead = lookahead_.find(held.task->id);
  if (ahead->next == nullptr || ahead->next->unlocked()) return false;
  for (const Access& access : held.task->accesses())
    if (access.datum == ahead->tile && reads(access.mode))
      for (Slot slot = 0; slot < tasks().slots(); ++slot)
        if (!tasks().missing(access.datum, slot)) return false;
  return true;
}

// The oldest, which is found in constant time; choosing the most urgent one is no better.
bool DartsAhead::recall(Slot slot) {
  for (DartsTask& held : tasks().deferred_tasks()) {
    if (!held.on(slot).usable()) continue;
    wait_no_longer(held);
    return true;
  }
  return false;
}

std::unique_ptr<Policy> make_darts_chain(const PolicyOptions& options) {
  return std::make_unique<DartsAhead>(DartsVariant::chain, darts_rules(options));
}
std::unique_ptr<Policy> make_darts_defer(const PolicyOptions& options) {
  return std::make_unique<DartsAhead>(DartsVariant::defer, darts_rules(options));
}

}  // namespace fairlead::schedule
