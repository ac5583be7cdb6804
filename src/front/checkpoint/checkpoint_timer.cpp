// See checkpoint_timer.hpp.
#include "front/checkpoint/checkpoint_timer.hpp"

#include <algorithm>
#include <utility>

#include "base/guarded_thread.hpp"

namespace fairlead::front {

CheckpointTimer::CheckpointTimer(std::function<void()> wake, Stop stop)
    : wake_(std::move(wake)), limit_(stop.limit) {
  if (stop.after > Duration{}) stop_at_ = Clock::now() + stop.after;
}

void CheckpointTimer::schedule(Duration after) {
  {
    const std::lock_guard guard(mutex_);
    next_at_ = Clock::now() + after;
  }
  if (!thread_.joinable()) thread_ = guarded_thread([this] { run(); }, ignore_failure);
  changed_.notify_all();
}

void CheckpointTimer::request_stop() noexcept {
  if (limit_ > Duration{}) {
    const std::lock_guard guard(mutex_);
    give_up_at_ = std::min(give_up_at_, Clock::now() + limit_);
  }
  stop_requested_ = true;
  due_ = true;
  changed_.notify_all();
  wake_();
}

void CheckpointTimer::end() noexcept {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CheckpointTimer::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const Clock::time_point next = std::min({next_at_, stop_at_, give_up_at_});
    if (next == Clock::time_point::max()) {
      changed_.wait(lock);
      continue;
    }
    if (changed_.wait_until(lock, next) != std::cv_status::timeout) continue;
    const Clock::time_point now = Clock::now();
    if (ending_) return;
    if (now >= give_up_at_) {
      give_up_at_ = Clock::time_point::max();
      given_up_ = true;
      wake_();
    } else if (now >= stop_at_) {
      stop_at_ = next_at_ = Clock::time_point::max();
      lock.unlock();
      request_stop();
      lock.lock();
    } else if (now >= next_at_) {
      next_at_ = Clock::time_point::max();
      due_ = true;
      wake_();
    }
  }
}

}  // namespace fairlead::front
