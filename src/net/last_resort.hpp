// A thread that waits to do one thing that may itself wait for ever, so that nobody else has to.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "base/guarded_thread.hpp"

namespace fairlead::net {

class LastResort {
 public:
  explicit LastResort(std::function<void()> act)
      : act_(std::move(act)), thread_(guarded_thread([this] { wait(); }, ignore_failure)) {}
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;
  /// Waits for what has begun.
  ~LastResort() {
    tell(State::ends);
    thread_.join();
  }
  void take() { tell(State::wanted); }

 private:
  enum class State : std::uint8_t { waits, wanted, ends };
  void tell(State state) {
    const std::lock_guard guard(mutex_);
    if (state_ == State::waits) state_ = state;
    told_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [this] { return state_ != State::waits; });
    const bool wanted = state_ == State::wanted;
    lock.unlock();
    if (wanted) act_();
  }
  const std::function<void()> act_;
  std::mutex mutex_;  // guards state_
  std::condition_variable told_;
  State state_ = State::waits;
  std::thread thread_;
};

}  // namespace fairlead::net
