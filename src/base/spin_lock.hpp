// A spin lock for critical sections of a few instructions; a thread that finds it taken yields and tries again.
#pragma once
#include <atomic>
#include <thread>

namespace fairlead {

class SpinLock {
 public:
  void lock() noexcept {
    // Acquire and release order exactly the guarded accesses.
    while (held_.exchange(true, std::memory_order_acquire))
      while (held_.load(std::memory_order_relaxed)) std::this_thread::yield();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace fairlead
