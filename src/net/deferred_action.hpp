// A thread that waits to execute one action which may block for ever, so that no other thread has to.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "base/guarded_thread.hpp"

namespace fairlead::net {

class DeferredAction {
 public:
  explicit DeferredAction(std::function<void()> act)
      : act_(std::move(act)), thread_(guarded_thread([this] { wait(); }, ignore_failure)) {}
  DeferredAction(const DeferredAction&) = delete;
  DeferredAction& operator=(const DeferredAction&) = delete;
  /// Waits for the action, if it has started.
  ~DeferredAction() {
    set_state(State::ends);
    thread_.join();
  }
  /// Starts the action. Does not block.
  void start() { set_state(State::wanted); }

 private:
  enum class State : std::uint8_t { waits, wanted, ends };
  void set_state(State state) {
    const std::lock_guard guard(mutex_);
    if (state_ == State::waits) state_ = state;
    changed_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_ != State::waits; });
    const bool wanted = state_ == State::wanted;
    lock.unlock();
    if (wanted) act_();
  }
  const std::function<void()> act_;
  std::mutex mutex_;  // guards state_
  std::condition_variable changed_;
  State state_ = State::waits;
  std::thread thread_;
};

}  // namespace fairlead::net
