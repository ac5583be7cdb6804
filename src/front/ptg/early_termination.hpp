// Why a parameterized graph ends before all tasks are finished, other than cancellation: the graph is invalid, or its
// results are no longer needed. Kept across runs.
#pragma once
#include <atomic>
#include <mutex>
#include <string>

namespace fairlead::ptg {

/// Thread-safe, except where noted.
class EarlyTermination {
 public:
  /// See Graph::abandon(). The caller also cancels the graph.
  void abandon() noexcept { abandoned_.store(true); }
  /// Call when a task has failed. Returns true if that abandons the graph.
  bool failed() noexcept {
    if (on_failure_) abandon();
    return on_failure_;
  }
  /// True once the results are no longer needed.
  bool abandoned() const noexcept { return abandoned_.load(std::memory_order_relaxed); }
  /// The flag behind abandoned(), for iterations that stop when it is set.
  const std::atomic<bool>& abandoned_flag() const noexcept { return abandoned_; }
  /// Records an error in the graph; the first one is kept.
  void record_error(const std::string& why) {
    const std::lock_guard guard(mutex_);
    if (misuse_.empty()) misuse_ = why;
  }

  // ---- for the program's thread
  /// Call before a run.
  void abandon_on_failure() noexcept { on_failure_ = true; }
  /// The recorded error; empty if there is none. Call while no task runs.
  const std::string& error() const noexcept { return misuse_; }

 private:
  std::atomic<bool> abandoned_{false};
  bool on_failure_ = false;
  std::mutex mutex_;  // guards the member below
  std::string misuse_;
};

}  // namespace fairlead::ptg
