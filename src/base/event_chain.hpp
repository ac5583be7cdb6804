// Events in order of occurrence, in an intrusive list: one thread collects them without allocating.
#pragma once
#include <cstddef>

#include "base/event.hpp"

namespace fairlead {

/// A list with the newest event in front: an inbox can take it over with one exchange.
class EventChain {
 public:
  bool empty() const noexcept { return newest_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  Event* newest() const noexcept { return newest_; }
  Event* oldest() const noexcept { return oldest_; }

  void append(Event& event) noexcept {
    event.next = newest_;
    newest_ = &event;
    if (oldest_ == nullptr) oldest_ = &event;
    ++size_;
  }
  void clear() noexcept { *this = EventChain(); }

  /// Returns the list oldest first, by reversing the links in place, and empties the chain.
  Event* take_in_order() noexcept {
    Event* reversed = nullptr;
    for (Event* event = newest_; event != nullptr;) {
      Event* older = event->next;
      event->next = reversed;
      reversed = event;
      event = older;
    }
    clear();
    return reversed;
  }

 private:
  Event* newest_ = nullptr;
  Event* oldest_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace fairlead
