// Delivers a network's events to its listener, from any thread, between begin() and end().
#pragma once
#include <atomic>
#include <thread>

namespace fairlead::net {

/// One thread calls begin() and end().
template <class Listener>
class ListenerGuard {
 public:
  /// Opens the delivery.
  void begin(Listener& listener) noexcept {
    listener_ = &listener;
    open_.store(true);
  }
  bool is_open() const noexcept { return open_.load(); }
  bool has_begun() const noexcept { return listener_ != nullptr; }
  /// Calls tell(listener) and returns true; before begin() or after end() returns false. Any thread, also inside of
  /// tell().
  template <class Tell>
  bool notify(Tell&& tell) {
    // an early exit, so that end() does not wait for a series of callers
    if (!open_.load()) return false;
    const Call telling(tellers_);
    if (!open_.load()) return false;
    tell(*listener_);
    return true;
  }
  /// When it returns, no call of the listener is in progress, and the listener may be destroyed. Not inside of
  /// tell().
  void end() noexcept {
    // Sequentially consistent, as above: a thread that has not seen the store is counted in tellers_.
    open_.store(false);
    while (tellers_.load() != 0) std::this_thread::yield();
  }

 private:
  class Call {
   public:
    explicit Call(std::atomic<int>& tellers) noexcept : tellers_(tellers) { tellers_.fetch_add(1); }
    ~Call() { tellers_.fetch_sub(1); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    std::atomic<int>& tellers_;
  };
  Listener* listener_ = nullptr;
  std::atomic<bool> open_{false};
  std::atomic<int> tellers_{0};
};

}  // namespace fairlead::net
