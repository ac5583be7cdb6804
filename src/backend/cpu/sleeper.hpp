// Lets one thread sleep until another has work for it, without lost wake-ups.
#pragma once
#include <atomic>
#include <cstdint>

namespace fairlead::backend {

class Sleeper {
 public:
  /// Sleeps until woken, unless `awake()` is true once other threads can see that this one is about to sleep.
  template <class Awake>
  void sleep_unless(Awake&& awake) {
    const std::uint32_t before = calls_.load();
    // Sequentially consistent: a producer first publishes work and then reads `asleep_`; this thread does the
    // reverse. An exchange, since wake_if_asleep() may come first: then this reads its value, and awake() sees the
    // work.
    asleep_.exchange(1);
    if (!awake()) calls_.wait(before);
    asleep_.store(0);
  }
  /// Call it after publishing the work sequentially consistently where awake() finds it.
  bool asleep() const noexcept { return asleep_.load() != 0; }
  /// As asleep() with wake(), but a release store of the work suffices: one expensive instruction for any number of
  /// tasks.
  void wake_if_asleep() noexcept {
    if (asleep_.fetch_or(0) != 0) wake();
  }
  /// True if it slept; a second call for the same sleep returns false.
  bool wake_once() noexcept {
    if (asleep_.load() == 0 || asleep_.exchange(0) == 0) return false;
    wake();
    return true;
  }
  void wake() noexcept {
    calls_.fetch_add(1);
    calls_.notify_one();
  }

 private:
  alignas(64) std::atomic<std::uint32_t> calls_{0};
  std::atomic<std::uint32_t> asleep_{0};
};

}  // namespace fairlead::backend
