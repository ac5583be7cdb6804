// Descriptors of copies, used again and again: their addresses are what events and queues know them by.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "memory/replica.hpp"

namespace fairlead::memory {

class CopyPool {
 public:
  /// With a number of its own, waiting to be started, and nothing else said about it.
  Copy& take() {
    Copy* copy;
    if (unused_.empty()) {
      copy = &copies_.emplace_back();
    } else {
      copy = unused_.back();
      unused_.pop_back();
    }
    copy->id = next_id_++;
    copy->state = Copy::State::queued;
    copy->overtaken = copy->revoked = copy->counts_for_flush = copy->via_revoked = false;
    copy->via = nullptr;
    copy->attempts = 0;
    copy->error_number = 0;
    copy->waiters.clear();
    return *copy;
  }
  void give_back(Copy& copy) {
    copy.from = copy.to = nullptr;
    copy.failure = nullptr;
    unused_.push_back(&copy);
  }
  /// Calls f(Copy&) for each that is queued or in flight.
  template <class F>
  void for_each(F&& f) {
    for (Copy& copy : copies_)
      if (copy.to != nullptr) f(copy);
  }
  template <class F>
  void for_each(F&& f) const {
    for (const Copy& copy : copies_)
      if (copy.to != nullptr) f(copy);
  }

 private:
  std::deque<Copy> copies_;
  std::vector<Copy*> unused_;
  std::uint64_t next_id_ = 0;
};

}  // namespace fairlead::memory
