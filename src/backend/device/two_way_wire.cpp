// See two_way_wire.hpp.
#include "backend/device/two_way_wire.hpp"

#include <cerrno>
#include <exception>
#include <optional>

#include "base/guarded_thread.hpp"

namespace fairlead::backend {

namespace {

template <class Step>
Outcome outcome_of(const Step& step) {
  try {
    return step();
  } catch (...) {  // what the program's own functions throw that pack, or no memory
    return {.error_number = EIO, .failure = std::current_exception()};
  }
}

}  // namespace

void TwoWayWire::begin_threads() {
  for (Way& way : ways_) way.under_way.resize(together_);
  for (unsigned direction = 0; direction < directions; ++direction)
    ways_[direction].thread = guarded_thread([this, direction] { run(direction); }, ignore_failure);
}

void TwoWayWire::start(const Load& load) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    ways_[load.away_from_home ? to_device : from_device].loads.push_back(load);
  }
  changed_.notify_all();  // the other way's thread waits there, too
}

void TwoWayWire::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Way& way : ways_) way.loads.clear();
  }
  changed_.notify_all();
  for (Way& way : ways_)
    if (way.thread.joinable()) way.thread.join();
}

void TwoWayWire::run(unsigned direction) {
  Way& way = ways_[direction];
  unsigned first_slot = 0, under_way = 0;  // the slots follow each other
  for (bool ends = false; !ends;) {
    std::optional<Load> next;
    {
      std::unique_lock lock(mutex_);
      if (under_way == 0) changed_.wait(lock, [&] { return ending_ || !way.loads.empty(); });
      if (!way.loads.empty() && under_way < together_) {
        next = way.loads.front();
        way.loads.pop_front();
      } else {
        ends = under_way == 0;
      }
    }
    if (next) {
      const unsigned slot = (first_slot + under_way) % together_;
      const Outcome outcome = outcome_of([&] { return begin(direction, slot, *next); });
      if (outcome.good()) {
        way.under_way[slot] = *next;
        ++under_way;
      } else {
        next->receiver->over(next->token, outcome);
      }
    } else if (!ends) {
      const Load oldest = way.under_way[first_slot];
      const Outcome outcome = outcome_of([&] { return end(direction, first_slot, oldest); });
      --under_way;
      first_slot = (first_slot + 1) % together_;
      oldest.receiver->over(oldest.token, outcome);
    }
  }
  leave(direction);
}

}  // namespace fairlead::backend
