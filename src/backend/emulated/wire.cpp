// Moves at a wire's pace; see wire.hpp.
#include "backend/emulated/wire.hpp"

#include <cstring>
#include <utility>

namespace fairlead::backend {

Wire::Wire(Settings settings, World world)
    : Chore(Kind::moves), settings_(settings), world_(std::move(world)), cap_(settings.bytes_per_second) {
  if (settings_.played_by == PlayedBy::own_thread) thread_ = std::thread([this] { run(); });
}

void Wire::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    queue_.clear();
    set_waiting(0);
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Wire::start(const Load& load) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    queue_.push_back({load, world_.clock()});
    set_waiting(queue_.size());
  }
  if (settings_.played_by == PlayedBy::own_thread) {
    changed_.notify_one();
  } else {
    world_.wake();
  }
}

void Wire::hurry() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cap_ = BandwidthCap(0);
  }
  changed_.notify_all();
}

void Wire::do_one() noexcept {
  Move move;
  {
    std::unique_lock lock(mutex_);
    if (queue_.empty()) return;
    move = queue_.front();
    queue_.pop_front();
    set_waiting(queue_.size());
    const Time end =
        cap_.book_from(move.load.bytes, move.started).end + (cap_.active() ? settings_.latency : Duration{});
    lock.unlock();
    make(move.load);
    lock.lock();
    // What the hardware would take longer than memory does.
    while (!ending_ && cap_.active() && world_.clock() < end) changed_.wait_for(lock, end - world_.clock());
    if (ending_) return;
  }
  move.load.receiver->over(move.load.token, {});
}

void Wire::make(const Load& load) const {
  std::byte *const from = load.from.address, *const to = load.to.address;  // it is played: cores can follow
  if (load.layout == nullptr) {
    std::memcpy(to, from, load.bytes);
  } else if (load.away_from_home) {
    load.layout->pack(from, to);
  } else {
    load.layout->unpack(from, to);
  }
}

void Wire::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (ending_) return;
    }
    do_one();
  }
}

}  // namespace fairlead::backend
