// A lock for a few instructions: who finds it taken lets others run and tries again.
#pragma once
#include <atomic>
#include <thread>

namespace fairlead {

class ShortLock {
 public:
  void lock() noexcept {
    // acquire and release: what is guarded, and nothing else, is ordered.
    while (held_.exchange(true, std::memory_order_acquire))
      while (held_.load(std::memory_order_relaxed)) std::this_thread::yield();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace fairlead
