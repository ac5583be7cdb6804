// The two threads of a device link.
#include "backend/device/driver_link.hpp"

#include <cerrno>
#include <exception>
#include <optional>

#include "base/guarded_thread.hpp"

namespace fairlead::backend {

namespace {

template <class Step>
TransferResult outcome_of(const Step& step) {
  try {
    return step();
  } catch (...) {  // from the program's own pack functions, or no memory
    return {.error_number = EIO, .failure = std::current_exception()};
  }
}

}  // namespace

void DriverLink::begin_threads() {
  for (Way& way : ways_) way.in_flight.resize(together_);
  for (unsigned direction = 0; direction < directions; ++direction)
    ways_[direction].thread = guarded_thread([this, direction] { run(direction); }, ignore_failure);
}

void DriverLink::start(const Transfer& load) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    ways_[load.away_from_home ? to_device : from_device].loads.push_back(load);
  }
  changed_.notify_all();  // the other direction's thread waits on it, too
}

void DriverLink::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Way& way : ways_) way.loads.clear();
  }
  changed_.notify_all();
  for (Way& way : ways_)
    if (way.thread.joinable()) way.thread.join();
}

void DriverLink::run(unsigned direction) {
  Way& way = ways_[direction];
  unsigned first_slot = 0, under_way = 0;  // the slots form a ring
  for (bool ends = false; !ends;) {
    std::optional<Transfer> next;
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
      const TransferResult outcome = outcome_of([&] { return start_copy(direction, slot, *next); });
      if (outcome.succeeded()) {
        way.in_flight[slot] = *next;
        ++under_way;
      } else {
        next->receiver->completed(next->token, outcome);
      }
    } else if (!ends) {
      const Transfer oldest = way.in_flight[first_slot];
      const TransferResult outcome = outcome_of([&] { return wait_for_copy(direction, first_slot, oldest); });
      --under_way;
      first_slot = (first_slot + 1) % together_;
      oldest.receiver->completed(oldest.token, outcome);
    }
  }
  thread_ending(direction);
}

}  // namespace fairlead::backend
