// Functions of the program that are to be called when something has happened. They run one at a time, on
// whichever thread of the runtime is there, when that thread holds no lock and is in the middle of nothing:
// so they may release holds and signal completions.
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
  /// None waits or runs.
  bool empty() const noexcept { return open_.load() == 0; }
  /// The caller runs inside one of them.
  bool running_here(std::thread::id caller = std::this_thread::get_id()) const noexcept {
    return runner_.load() == caller;
  }
  /// If it throws, run() does.
  void push(std::function<void()> callback) {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(callback));
    open_.fetch_add(1);
  }
  /// Calls all that wait, unless another thread is at it: then that one calls them. True if it called any.
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
      next = nullptr;  // what it had captured goes before anybody hears that it is over
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
