// Moves at a wire's pace; see wire.hpp.
#include "backend/emulated/wire.hpp"

#include <cstring>

namespace fairlead::backend {

Wire::Wire(Settings settings, Clock clock, OnDone on_done, std::function<void()> on_work)
    : settings_(settings),
      clock_(std::move(clock)),
      on_done_(std::move(on_done)),
      on_work_(std::move(on_work)),
      cap_(settings.bytes_per_second) {
  if (settings_.played_by == PlayedBy::own_thread) thread_ = std::thread([this] { run(); });
}

void Wire::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Wire::submit(const Move& move) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    queue_.push_back(move);
    queue_.back().submitted = clock_();
  }
  if (settings_.played_by == PlayedBy::own_thread) {
    changed_.notify_one();
  } else {
    on_work_();
  }
}

bool Wire::waiting() const {
  const std::lock_guard lock(mutex_);
  return !queue_.empty();
}

void Wire::lift_cap() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cap_ = BandwidthCap(0);
  }
  changed_.notify_all();
}

bool Wire::play_one() {
  Move move;
  {
    std::unique_lock lock(mutex_);
    if (queue_.empty()) return false;
    move = queue_.front();
    queue_.pop_front();
    const Time end =
        cap_.book_from(move.bytes, move.submitted).end + (cap_.active() ? settings_.latency : Duration{});
    lock.unlock();
    make(move);
    lock.lock();
    // What the hardware would take longer than memory does.
    while (!ending_ && cap_.active() && clock_() < end) changed_.wait_for(lock, end - clock_());
    if (ending_) return false;
  }
  on_done_(move.token);
  return true;
}

void Wire::make(const Move& move) {
  if (move.layout == nullptr) {
    std::memcpy(move.to, move.from, move.bytes);
  } else if (move.unpack) {
    move.layout->unpack(move.from, move.to);
  } else {
    move.layout->pack(move.from, move.to);
  }
}

void Wire::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (ending_) return;
    }
    play_one();
  }
}

}  // namespace fairlead::backend
