// Holds in the engine: the application's accesses, which wait in the graph and are admitted on the host's
// node like tasks, and then end when the application says so (rule 9 of docs/memory.md).
#include "engine/engine.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace fairlead::engine {

/// All that was before it is over.
void Engine::hold_ready(Task& hold, Commands& out) {
  if (hold.has(TaskFlag::abandoned)) return end_hold(hold, out);
  if (!hold.has(TaskFlag::at_home) && (must_cancel(hold) || memory_.reads_poisoned(hold))) {
    memory_.poison_outputs(hold);
    lane_.close();
    hold.cancelled = true;
    return end_hold(hold, out);
  }
  hold.state = TaskState::ready;
  holds_waiting_.push_back(&hold);
  admit_holds(out);
}

/// Admits the holds that fit now. True if there is one less that waits.
bool Engine::admit_holds(Commands& out) {
  const std::size_t before = holds_waiting_.size();
  std::erase_if(holds_waiting_, [&](Task* hold) {
    if (!hold->has(TaskFlag::at_home) && must_cancel(*hold)) {
      memory_.forget_claim(*hold);
      memory_.poison_outputs(*hold);
      lane_.close();
      hold->cancelled = true;
      end_hold(*hold, out);
      return true;
    }
    if (memory_.admit(*hold, host_, true) != memory::Admission::admitted) return false;
    holds_arriving_.push_back(hold);
    if (hold->pending_copies == 0) hold_landed(*hold, out);
    return true;
  });
  return holds_waiting_.size() != before;
}

/// All its data are there.
void Engine::hold_landed(Task& hold, Commands& out) {
  std::erase(holds_arriving_, &hold);
  if (hold.has(TaskFlag::at_home)) return view_switched(hold, out);
  if (hold.has(TaskFlag::abandoned)) {
    memory_.release(hold, memory::Outcome::returned);
    return end_hold(hold, out);
  }
  hold.state = TaskState::staged;
  memory_.hold(hold);
  holds_granted_.push_back(&hold);
  hold.at = now_;
  digest_.add(CommandDigest::Kind::grant, static_cast<std::uint64_t>(hold.id), 0);
  transit_.fetch_add(1);  // until who asked for it can see that he has it
  out.granted.push_back(&hold);
}

/// All that was seen before is at home, where it can be seen otherwise now. That is never left out, not even
/// for data without a value: what is dirty must not come home later.
void Engine::view_switched(Task& hold, Commands& out) {
  const bool poisoned = memory_.reads_poisoned(hold);
  memory_.release(hold, memory::Outcome::succeeded);
  if (poisoned) {
    memory_.poison_outputs(hold);
    lane_.close();
  }
  end_hold(hold, out);
}

/// Some of its data could not be brought.
void Engine::hold_failed(Task& hold, Commands& out) {
  std::erase(holds_arriving_, &hold);
  memory_.release(hold, hold.has(TaskFlag::abandoned) ? memory::Outcome::returned : memory::Outcome::failed);
  lane_.close();
  end_hold(hold, out);
}

void Engine::hold_released(HoldRelease& release, Commands& out) {
  Task* const hold = release.hold;
  if (hold != nullptr) {
    switch (hold->state) {
      case TaskState::waiting:
      case TaskState::admitted:
        hold->set(TaskFlag::abandoned);
        break;
      case TaskState::ready:
        std::erase(holds_waiting_, hold);
        memory_.forget_claim(*hold);
        end_hold(*hold, out);
        break;
      case TaskState::staged:
        std::erase(holds_granted_, hold);
        memory_.unhold(*hold);
        memory_.release(*hold, release.unused || options_.mistake.is(Mistake::hold_write_forgotten)
                                   ? memory::Outcome::returned
                                   : memory::Outcome::succeeded);
        end_hold(*hold, out);
        break;
      case TaskState::picked:
      case TaskState::finished:
        break;
    }
  }
  release.applied.store(true, std::memory_order_release);  // afterwards it may be gone
}

void Engine::end_hold(Task& hold, Commands& out) { complete(hold, out, 2); }

bool Engine::nothing_moves() const noexcept {
  return memory_.copies_in_flight() == 0 && holds_arriving_.empty() && in_pipelines_ == unadmitted_ &&
         (held_by_policy_ == 0 || in_pipelines_ != 0) && !lane_pinned_ && lane_.still();
}

bool Engine::quiet() {
  const Guard guard{*this};
  // In this order: whoever brings a completion puts what it released into the inbox before he counts himself
  // out, and so does whoever leaves the lane.
  return transit_.load() == 0 && nothing_moves() && inbox_.empty() && fatal_ == nullptr;
}

}  // namespace fairlead::engine
