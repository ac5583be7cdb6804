// The queue of events for the engine: a stack. Any thread pushes a whole chain with one exchange; the holder of the
// engine's lock empties it with another.
#pragma once
#include <atomic>
#include <thread>

#include "base/event_chain.hpp"

namespace fairlead::engine {

class Inbox {
 public:
  // Sequentially consistent, because a pusher that then fails to get the lock relies on the holder's next
  // look at empty(): with weaker orders both could miss each other and the event would be lost.
  void push(EventChain& chain) noexcept {
    if (chain.empty()) return;
    Event* head = newest_.load(std::memory_order_relaxed);
    do {
      chain.oldest()->next = head;
    } while (!newest_.compare_exchange_weak(head, chain.newest()));
    chain.clear();
  }
  bool empty() const noexcept { return newest_.load() == nullptr; }

  /// Removes all events; returns them oldest first, linked by `next`.
  Event* drain() noexcept {
    if (empty()) return nullptr;
    Event* newest = newest_.exchange(nullptr);
    Event* in_order = nullptr;
    while (newest != nullptr) {
      Event* older = newest->next;
      newest->next = in_order;
      in_order = newest;
      newest = older;
    }
    return in_order;
  }

 private:
  alignas(64) std::atomic<Event*> newest_{nullptr};
};

/// The engine's lock. Threads that report events only try it; registration and status reports wait for it, for
/// microseconds. Sequentially consistent: see Inbox::push.
class EngineLock {
 public:
  bool try_lock() noexcept { return !held_.load() && !held_.exchange(true); }
  void unlock() noexcept { held_.store(false); }
  void lock() noexcept {
    while (!try_lock()) std::this_thread::yield();
  }

 private:
  alignas(64) std::atomic<bool> held_{false};
};

}  // namespace fairlead::engine
