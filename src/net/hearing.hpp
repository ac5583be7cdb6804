// Who is told what a network hears, by any thread, from begin() to end().
#pragma once
#include <atomic>
#include <thread>

namespace fairlead::net {

/// begin() and end() are one thread's.
template <class Listener>
class Hearing {
 public:
  void begin(Listener& listener) noexcept {
    listener_ = &listener;
    open_.store(true);
  }
  bool is_open() const noexcept { return open_.load(); }
  bool has_begun() const noexcept { return listener_ != nullptr; }
  /// Calls tell(listener); nothing before begin() or after end(), and false. Any thread, also in tell().
  template <class Tell>
  bool tell(Tell&& tell) {
    if (!open_.load()) return false;  // or end() might wait for one after the other
    const Telling telling(tellers_);
    if (!open_.load()) return false;
    tell(*listener_);
    return true;
  }
  /// When it returns, nobody is telling any more, and the listener may go. Not in tell().
  void end() noexcept {
    // Sequentially consistent, as above: who has not seen it closed is seen here.
    open_.store(false);
    while (tellers_.load() != 0) std::this_thread::yield();
  }

 private:
  class Telling {
   public:
    explicit Telling(std::atomic<int>& tellers) noexcept : tellers_(tellers) { tellers_.fetch_add(1); }
    ~Telling() { tellers_.fetch_sub(1); }
    Telling(const Telling&) = delete;
    Telling& operator=(const Telling&) = delete;

   private:
    std::atomic<int>& tellers_;
  };
  Listener* listener_ = nullptr;
  std::atomic<bool> open_{false};
  std::atomic<int> tellers_{0};
};

}  // namespace fairlead::net
