// Why a parameterized graph ends before its tasks are over, but for one that is cancelled: it is wrong, or nobody uses any more what
// it writes. It outlives the runs.
#pragma once
#include <atomic>
#include <mutex>
#include <string>

namespace fairlead::ptg {

/// Any thread, but for what is said to be the program's.
class EarlyEnd {
 public:
  /// See Graph::abandon(); to be cancelled, too.
  void abandon() noexcept { abandoned_.store(true); }
  /// A task has failed. True: that abandons the graph.
  bool failed() noexcept {
    if (on_failure_) abandon();
    return on_failure_;
  }
  bool abandoned() const noexcept { return abandoned_.load(std::memory_order_relaxed); }
  /// The same, for walks that end then.
  const std::atomic<bool>& abandoned_flag() const noexcept { return abandoned_; }
  /// What is wrong with the graph. The first counts.
  void misused(const std::string& why) {
    const std::lock_guard guard(mutex_);
    if (misuse_.empty()) misuse_ = why;
  }

  // ---- the program's thread's
  /// Before a run.
  void abandon_on_failure() noexcept { on_failure_ = true; }
  /// While no task runs; empty: nothing is.
  const std::string& misuse() const noexcept { return misuse_; }

 private:
  std::atomic<bool> abandoned_{false};
  bool on_failure_ = false;
  std::mutex mutex_;  // guards what follows
  std::string misuse_;
};

}  // namespace fairlead::ptg
