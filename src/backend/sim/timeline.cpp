// Selects the next world by a tournament tree; see timeline.hpp.
#include "backend/sim/timeline.hpp"

#include <algorithm>

namespace fairlead::backend {

void Timeline::throw_at_end() {
  throw Error(
      "the simulated time exceeds the limit of 28 years\n"
      "  Check the rates and bandwidths of the machine.");
}

std::uint32_t Timeline::join(Member& member) {
  const auto number = static_cast<std::uint32_t>(members_.size());
  members_.push_back(&member);
  if (members_.size() > next_.size()) {
    next_.resize(std::max<std::size_t>(2, 2 * next_.size()), Time::max());
    winners_.resize(next_.size());
    for (std::size_t match = winners_.size() - 1; match > 0; --match) play_match(match);
  }
  if (number == 1) changed_.push_back(0);  // a single member is not tracked
  changed_.push_back(number);
  return number;
}

void Timeline::leave(std::uint32_t number) noexcept {
  members_[number] = nullptr;
  set(number, Time::max());
}

void Timeline::play_match(std::size_t match) noexcept {
  const auto player = [&](std::size_t of) {
    return of < winners_.size() ? winners_[of] : static_cast<std::uint32_t>(of - winners_.size());
  };
  const std::uint32_t first = player(2 * match), second = player(2 * match + 1);
  winners_[match] = is_before(first, second) ? first : second;
}

void Timeline::set(std::uint32_t number, Time next) noexcept {
  if (next == next_[number]) return;
  next_[number] = next;
  for (std::size_t match = (winners_.size() + number) / 2; match > 0; match /= 2) play_match(match);
}

void Timeline::update(std::uint32_t number) {
  set(number, members_[number] == nullptr ? Time::max() : members_[number]->next());
}

bool Timeline::step() {
  if (stop_requested_ != nullptr && stop_requested_->load(std::memory_order_relaxed)) [[unlikely]]
    throw SimulationStopped();
  if (members_.empty()) return false;
  if (members_.size() == 1)  // most simulations have one world: nothing to choose
    return members_.front() != nullptr && members_.front()->step();
  while (!changed_.empty()) {
    const std::uint32_t number = changed_.back();
    changed_.pop_back();
    update(number);
  }
  const std::uint32_t number = winners_[1];
  if (next_[number] == Time::max()) return false;
  changed_.push_back(number);
  return members_[number]->step();
}

}  // namespace fairlead::backend
