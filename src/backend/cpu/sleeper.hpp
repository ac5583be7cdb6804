// How one thread sleeps until another has something for it, without ever missing the moment.
#pragma once
#include <atomic>
#include <cstdint>

namespace fairlead::backend {

class Sleeper {
 public:
  /// Sleeps until woken, unless `awake()` holds once everybody can see that we are about to.
  template <class Awake>
  void sleep_unless(Awake&& awake) {
    const std::uint32_t before = calls_.load();
    // Sequentially consistent: whoever brings work first brings it and then looks at `asleep_`; we do the
    // reverse. An exchange, because wake_if_asleep() may come first: then we read what it wrote, and awake()
    // sees the work.
    asleep_.exchange(1);
    if (!awake()) calls_.wait(before);
    asleep_.store(0);
  }
  /// To be asked after the work has been put, sequentially consistently, where awake() finds it.
  bool asleep() const noexcept { return asleep_.load() != 0; }
  /// The same, but releasing the work is enough: one expensive instruction for any number of tasks.
  void wake_if_asleep() noexcept {
    if (asleep_.fetch_or(0) != 0) wake();
  }
  /// True if it slept; it will not be woken a second time from the same sleep.
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
