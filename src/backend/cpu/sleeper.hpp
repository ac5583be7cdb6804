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
    // reverse.
    asleep_.store(true);
    if (!awake()) calls_.wait(before);
    asleep_.store(false);
  }
  /// To be asked after the work has been put where awake() finds it.
  bool asleep() const noexcept { return asleep_.load(); }
  void wake() noexcept {
    calls_.fetch_add(1);
    calls_.notify_one();
  }

 private:
  alignas(64) std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> asleep_{false};
};

}  // namespace fairlead::backend
