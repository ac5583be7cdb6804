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
  /// Calls function(listener) and returns true; before begin() or after end() returns false. Any thread, also inside of
  /// function().
  template <class Function>
  bool notify(Function&& function) {
    // an early exit, so that end() does not wait for a series of callers
    if (!open_.load()) return false;
    const Call call(callers_);
    if (!open_.load()) return false;
    function(*listener_);
    return true;
  }
  /// When it returns, no call of the listener is in progress, and the listener may be destroyed. Not inside of
  /// function().
  void end() noexcept {
    // Sequentially consistent, as above: a thread that has not seen the store is counted in callers_.
    open_.store(false);
    while (callers_.load() != 0) std::this_thread::yield();
  }

 private:
  class Call {
   public:
    explicit Call(std::atomic<int>& callers) noexcept : callers_(callers) { callers_.fetch_add(1); }
    ~Call() { callers_.fetch_sub(1); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    std::atomic<int>& callers_;
  };
  Listener* listener_ = nullptr;
  std::atomic<bool> open_{false};
  std::atomic<int> callers_{0};
};

}  // namespace fairlead::net
