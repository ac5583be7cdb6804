// Whose turn it is; see timeline.hpp.
#include "backend/sim/timeline.hpp"

namespace fairlead::backend {

std::uint32_t Timeline::join(Member& member) {
  const auto number = static_cast<std::uint32_t>(members_.size());
  members_.push_back(&member);
  next_.push_back(Time::max());
  if (number == 1) changed_.push_back(0);  // nobody counts while there is one only
  changed_.push_back(number);
  return number;
}

void Timeline::leave(std::uint32_t number) noexcept {
  members_[number] = nullptr;
  order_.erase({next_[number], number});
  next_[number] = Time::max();
}

void Timeline::look_at(std::uint32_t number) {
  const Time next = members_[number] == nullptr ? Time::max() : members_[number]->next();
  if (next == next_[number]) return;
  order_.erase({next_[number], number});
  if (next != Time::max()) order_.insert({next, number});
  next_[number] = next;
}

bool Timeline::step() {
  if (members_.size() == 1)  // most simulations: nothing to choose
    return members_.front() != nullptr && members_.front()->step();
  while (!changed_.empty()) {
    const std::uint32_t number = changed_.back();
    changed_.pop_back();
    look_at(number);
  }
  if (order_.empty()) return false;
  const std::uint32_t number = order_.begin()->second;
  changed_.push_back(number);
  return members_[number]->step();
}

}  // namespace fairlead::backend
