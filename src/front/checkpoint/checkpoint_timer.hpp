// When the next checkpoint is due, and whether the run should stop after it.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>

#include "base/time.hpp"

namespace fairlead::front {

class CheckpointTimer {
 public:
  struct Stop {
    Duration after{};  ///< since the timer was made; 0: never
    Duration limit{};  ///< for the checkpoint of a requested stop; 0: none
  };
  /// `wake`: called by its thread and by request_stop(): a checkpoint is due, or is given up.
  CheckpointTimer(std::function<void()> wake, Stop stop);
  ~CheckpointTimer() { end(); }
  CheckpointTimer(const CheckpointTimer&) = delete;
  CheckpointTimer& operator=(const CheckpointTimer&) = delete;

  /// The next checkpoint is due after this time. The first call starts the thread.
  void schedule(Duration after);
  /// Whether a checkpoint is due. Any thread.
  bool is_due() const noexcept { return due_.load(std::memory_order_relaxed); }
  /// The checkpoint that is due is being made.
  void take() noexcept { due_ = false; }
  /// A checkpoint is due now, and the run should stop after it. Any thread.
  void request_stop() noexcept;
  bool stop_requested() const noexcept { return stop_requested_.load(); }
  /// The limit of a requested stop has passed. Any thread.
  bool is_given_up() const noexcept { return given_up_.load(); }
  /// The number of its threads.
  std::size_t threads() const noexcept { return thread_.joinable() ? 1 : 0; }
  /// Ends the thread; `wake` is not called any more by it.
  void end() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  const std::function<void()> wake_;
  const Duration limit_;
  std::atomic<bool> due_{false}, stop_requested_{false}, given_up_{false};
  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  Clock::time_point next_at_ = Clock::time_point::max(), stop_at_ = Clock::time_point::max(),
                    give_up_at_ = Clock::time_point::max();
  bool ending_ = false;
  std::thread thread_;  // last: it uses the fields above
};

}  // namespace fairlead::front
