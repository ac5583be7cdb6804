// Two bodies of tasks that run at the same time, if the runtime lets them.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

namespace fairlead::tests {

/// Each body waits until the other of its pair has come. Not for ever: that two tasks of a reduction can run at the same time is
/// no promise. One that is started before an earlier one may add to the datum itself, and the earlier one, which was submitted
/// when there were fewer partial results, has to wait for it.
class Meeting {
 public:
  /// False if none came in that time.
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
