// Reuses the descriptors of copies. Their addresses are stable, since events and queues refer to copies by address.
#pragma once
#include <deque>
#include <vector>

#include "memory/replica.hpp"

namespace fairlead::memory {

class CopyPool {
 public:
  /// The fields have the values of an earlier use.
  Copy& take() {
    if (unused_.empty()) return copies_.emplace_back();
    Copy* const copy = unused_.back();
    unused_.pop_back();
    return *copy;
  }
  /// No event or queue may refer to the copy any more.
  void give_back(Copy& copy) { unused_.push_back(&copy); }
  /// Calls f(Copy&) for each copy that is queued or in flight.
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
};

}  // namespace fairlead::memory
