// See holds.hpp.
#include "engine/holds.hpp"

#include <algorithm>

namespace fairlead::engine {

void Holds::ready(Task& hold, Commands& out) {
  if (hold.has(TaskFlag::abandoned)) return endings_.end_hold(hold, out);
  if (hold.role == TaskRole::hold && endings_.hopeless(hold)) return endings_.poison_hold(hold, out);
  hold.state = TaskState::ready;
  waiting_.push_back(&hold);
  admit(out);
}

bool Holds::admit(Commands& out) {
  const std::size_t before = waiting_.size();
  std::erase_if(waiting_, [&](Task* hold) {
    if (hold->role == TaskRole::hold && endings_.unwanted(*hold)) {
      memory_.forget_claim(*hold);
      endings_.poison_hold(*hold, out);
      return true;
    }
    if (memory_.admit(*hold, view_.host(), true, effects_) != memory::Admission::admitted) return false;
    arriving_.push_back(hold);
    if (hold->pending_copies == 0) landed(*hold, out);
    return true;
  });
  return waiting_.size() != before;
}

void Holds::landed(Task& hold, Commands& out) {
  std::erase(arriving_, &hold);
  if (hold.role == TaskRole::view_switch) return view_switched(hold, out);
  if (hold.has(TaskFlag::abandoned)) {
    memory_.release(hold, memory::Outcome::returned, effects_);
    return endings_.end_hold(hold, out);
  }
  hold.state = TaskState::staged;
  memory_.hold(hold);
  granted_.push_back(&hold);
  hold.at = view_.now();
  journal_.granted(hold);
  deliveries_.begin();  // until who asked for it can see that he has it
  out.granted.push_back(&hold);
}

/// All that was seen before is at home, where it can be seen otherwise now. That is never left out, not even
/// for data without a value: what is dirty must not come home later.
void Holds::view_switched(Task& hold, Commands& out) {
  const bool poisoned = memory_.reads_poisoned(hold);
  memory_.release(hold, memory::Outcome::succeeded, effects_);
  if (poisoned) {
    memory_.poison_outputs(hold);
    lane_.close();
  }
  endings_.end_hold(hold, out);
}

void Holds::failed(Task& hold, Commands& out) {
  std::erase(arriving_, &hold);
  memory_.release(hold, hold.has(TaskFlag::abandoned) ? memory::Outcome::returned : memory::Outcome::failed,
                  effects_);
  lane_.close();
  endings_.end_hold(hold, out);
}

void Holds::released(HoldRelease& release, Commands& out) {
  Task* const hold = release.hold;
  if (hold != nullptr) {
    switch (hold->state) {
      case TaskState::waiting:
      case TaskState::admitted:
        hold->set(TaskFlag::abandoned);
        break;
      case TaskState::ready:
        std::erase(waiting_, hold);
        memory_.forget_claim(*hold);
        endings_.end_hold(*hold, out);
        break;
      case TaskState::staged:
        std::erase(granted_, hold);
        memory_.unhold(*hold);
        memory_.release(*hold,
                        release.unused || mistake_.is(Mistake::hold_write_forgotten)
                            ? memory::Outcome::returned
                            : memory::Outcome::succeeded,
                        effects_);
        endings_.end_hold(*hold, out);
        break;
      case TaskState::picked:
      case TaskState::finished:
        break;
    }
  }
  release.applied.store(true, std::memory_order_release);  // afterwards it may be gone
}

}  // namespace fairlead::engine
