// Callbacks of the program, called after an event such as a granted hold. They run one at a time, on any thread of the
// runtime that holds no lock and is between tasks. So they may release holds and signal completions.
#pragma once
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace fairlead::engine {

class Callbacks {
 public:
  /// Whether no callback waits or runs.
  bool empty() const noexcept { return open_.load() == 0; }
  /// Whether the caller runs inside a callback.
  bool running_here(std::thread::id caller = std::this_thread::get_id()) const noexcept {
    return runner_.load() == caller;
  }
  /// Adds a callback. An exception that it throws leaves run().
  void push(std::function<void()> callback) {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(callback));
    open_.fetch_add(1);
  }
  /// Calls all waiting callbacks, unless another thread is doing so. Returns true if it called any.
  bool run() {
    bool any = false;
    for (;;) {
      std::function<void()> next;
      {
        const std::lock_guard guard(mutex_);
        if (waiting_.empty() || runner_.load() != std::thread::id()) return any;
        runner_.store(std::this_thread::get_id());
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      const Running running{*this};
      next();
      // captured objects are destroyed before other threads see that the callback is finished
      next = nullptr;
      any = true;
    }
  }

 private:
  struct Running {
    Callbacks& all;
    ~Running() {
      all.runner_.store(std::thread::id());
      all.open_.fetch_sub(1);
    }
  };

  std::atomic<std::size_t> open_{0};
  std::atomic<std::thread::id> runner_{};
  std::mutex mutex_;  // guards waiting_
  std::deque<std::function<void()>> waiting_;
};

}  // namespace fairlead::engine
