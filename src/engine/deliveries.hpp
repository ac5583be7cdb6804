// Counts engine decisions that threads have not passed on yet. While there are any, the run is not quiescent.
#pragma once
#include <atomic>
#include <cstddef>

namespace fairlead::engine {

/// Counts completions and granted holds in flight, and threads that have reported finished tasks but not yet the
/// successors that became ready. Any thread.
class PendingDeliveries {
 public:
  void begin() noexcept { open_.fetch_add(1); }
  /// Returns true if a thread waits for quiescence and must check again.
  bool end(std::size_t count) noexcept {
    open_.fetch_sub(static_cast<int>(count));
    return quiescence_requested();
  }
  bool none() const noexcept { return open_.load() == 0; }

  void request_quiescence(bool wanted) noexcept { quiet_wanted_.store(wanted); }
  bool quiescence_requested() const noexcept { return quiet_wanted_.load(); }

 private:
  alignas(64) std::atomic<int> open_{0};
  std::atomic<bool> quiet_wanted_{false};
};

}  // namespace fairlead::engine
