// The two variants of DARTS that look at later updates of tiles.
#include "schedule/darts/darts_ahead.hpp"

#include <algorithm>

namespace fairlead::schedule {

void DartsAhead::submitted(Task& task) {
  AheadTask& ahead = lookahead_.submitted(task);
  const auto workers = view().workers();
  const auto able = std::ranges::find_if(
      workers, [&](const WorkerInfo& worker) { return view().can_run(task, worker.id); });
  ahead.work = able == workers.end() ? 1 : std::max<std::int64_t>(1, view().estimate(task, able->id).count());
}

void DartsAhead::finished(Task& task, WorkerId worker, Duration took) {
  Darts::finished(task, worker, took);
  lookahead_.finished(task, unlocked_);
  for (AheadTask* ahead : unlocked_) next_is_unlocked(*ahead);
}

void DartsAhead::cancelled(Task& task) {
  Darts::cancelled(task);
  lookahead_.finished(task, unlocked_);
  for (AheadTask* ahead : unlocked_) next_is_unlocked(*ahead);
}

/// A task can now follow the earlier writers of its tile at once: what does that change for the first of
/// them?
void DartsAhead::next_is_unlocked(AheadTask& unlocked) {
  AheadTask* first = &unlocked;
  for (int steps = 0; first->previous != nullptr; first = first->previous)
    if (!first->unlocked() || ++steps > longest_chain) return;
  auto* held = static_cast<HeldTask*>(first->task->policy_data);
  if (first == &unlocked || held == nullptr) return;  // is about to become ready itself; or has been picked
  if (variant_ == DartsVariant::chain) {
    tasks().set_bonus(*held, later_work(*first));
  } else if (held->where == HeldTask::Where::aside) {
    wait_no_longer(*held);
  }
}

/// It was set aside.
void DartsAhead::wait_no_longer(HeldTask& held) {
  tasks().take_out(held, false);
  tasks().count_missing(held);
  tasks().to_ready(held);
}

/// What the updates right behind this one take, as far as they are unlocked.
std::int64_t DartsAhead::later_work(const AheadTask& ahead) const {
  std::int64_t work = 0;
  int steps = 0;
  for (const AheadTask* next = ahead.next; next != nullptr && next->unlocked() && steps < longest_chain;
       ++steps) {
    work += next->work;
    next = next->next;
  }
  return work;
}

void DartsAhead::enter(HeldTask& held) {
  if (const AheadTask* ahead = lookahead_.find(held.task->id); ahead != nullptr) {
    if (variant_ == DartsVariant::chain) tasks().set_bonus(held, later_work(*ahead));
    if (variant_ == DartsVariant::defer && worth_waiting_for(held)) return tasks().to_aside(held);
  }
  Darts::enter(held);
}

/// Its tile is nowhere in memory, and the next update of the tile is known but not unlocked.
bool DartsAhead::worth_waiting_for(const HeldTask& held) {
  const AheadTask* ahead = lookahead_.find(held.task->id);
  if (ahead->next == nullptr || ahead->next->unlocked()) return false;
  for (const Access& access : held.task->accesses())
    if (access.datum == ahead->tile && reads(access.mode))
      for (Slot slot = 0; slot < tasks().slots(); ++slot)
        if (!tasks().missing(access.datum, slot)) return false;
  return true;
}

// The oldest, which costs nothing to find; the most urgent one is no better.
bool DartsAhead::recall(Slot slot) {
  for (HeldTask& held : tasks().tasks_aside()) {
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
