// The thread that does the work of one object of the C interface, while the thread of the caller asks the program whether
// it should go on. So a signal handler of Python, which runs on the main thread only, can cancel a call; and factors,
// which only the thread that made them may use, serve any thread of the program.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/process_mark.hpp"

namespace fairlead::c {

/// Whether the program cancels its call; may be empty. Called on the thread of the caller.
using CancelQuestion = std::function<bool()>;

class CallThread {
 public:
  CallThread();
  /// Waits for a call in progress. Not for a forked child, where it would wait for ever: leave the object alone there.
  ~CallThread();
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  /// Runs work(stop) on the thread and returns when it has ended. After is_cancelled() returned true, a stop is requested
  /// of `stop`. Calls of several threads run one after the other. Throws what `work` throws, CancelledError if the call is
  /// cancelled before its turn, and UsageError in a forked process, which has no such thread.
  void run(const std::function<void(std::stop_token)>& work, const CancelQuestion& is_cancelled);
  /// False in a forked child.
  bool same_process() const noexcept { return process_.same_process(); }

 private:
  void serve();

  ProcessMark process_;
  std::timed_mutex calls_;  // held during a call
  std::mutex mutex_;        // guards the members below
  std::condition_variable changed_;
  const std::function<void(std::stop_token)>* work_ = nullptr;
  std::stop_source stop_;
  std::exception_ptr failure_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace fairlead::c
