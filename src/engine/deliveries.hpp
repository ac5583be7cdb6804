// What the engine has decided and threads have not yet passed on: until they have, the run is not quiet.
#pragma once
#include <atomic>
#include <cstddef>

namespace fairlead::engine {

/// Completions and granted holds on their way: threads that have told of ends and not yet of what became
/// ready by them. Any thread.
class Deliveries {
 public:
  void begin() noexcept { open_.fetch_add(1); }
  /// True if somebody waits for the run to be quiet, and has to look.
  bool end(std::size_t count) noexcept {
    open_.fetch_sub(static_cast<int>(count));
    return quiet_wanted();
  }
  bool none() const noexcept { return open_.load() == 0; }

  void want_quiet(bool wanted) noexcept { quiet_wanted_.store(wanted); }
  bool quiet_wanted() const noexcept { return quiet_wanted_.load(); }

 private:
  alignas(64) std::atomic<int> open_{0};
  std::atomic<bool> quiet_wanted_{false};
};

}  // namespace fairlead::engine
