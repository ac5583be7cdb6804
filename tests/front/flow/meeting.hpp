// Two task bodies that run at the same time, if the runtime allows.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

namespace fairlead::tests {

/// Each body waits a limited time for the other of its pair: the runtime does not promise to run two tasks of
/// a reduction at the same time. A task that starts before an earlier one may add to the datum itself; the
/// earlier one, submitted when there were fewer partial results, then has to wait.
class Meeting {
 public:
  /// False if no other body arrived in time.
  bool come() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    const int mine = ++arrived_;
    while (arrived_.load() < mine + mine % 2) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  std::atomic<int> arrived_{0};
};

}  // namespace fairlead::tests
