// How threads start. An exception that leaves a thread's function would abort the process, and so would the
// destruction of an unjoined thread; these functions prevent both. tests/repository/test_threads.py finds threads
// started in another way.
#pragma once
#include <cxxabi.h>

#include <cstddef>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead {

/// Starts a thread that runs `body`. On that thread, `failed` receives the exception that `body` throws; it must not
/// throw. Throws std::system_error or std::bad_alloc if no thread can be started.
template <class Body, class Failed>
std::thread guarded_thread(Body body, Failed failed) {
  return std::thread([body = std::move(body), failed = std::move(failed)]() mutable {
    try {
      body();
    } catch (abi::__forced_unwind&) {  // pthread_exit(): must be rethrown
      throw;
    } catch (...) {
      failed(std::current_exception());
    }
  });
}

/// For a thread that the work does not depend on: it just ends when its body throws.
inline void ignore_failure(const std::exception_ptr&) noexcept {}

/// Threads that are joined at the end of their scope, also after an exception. Declare it after all that the threads
/// use.
class JoinedThreads {
 public:
  JoinedThreads() = default;
  JoinedThreads(const JoinedThreads&) = delete;
  JoinedThreads& operator=(const JoinedThreads&) = delete;
  ~JoinedThreads() { join(); }

  /// As guarded_thread().
  template <class Body, class Failed>
  void start(Body body, Failed failed) {
    threads_.emplace_back();
    try {
      threads_.back() = guarded_thread(std::move(body), std::move(failed));
    } catch (...) {
      threads_.pop_back();
      throw;
    }
  }
  std::size_t size() const noexcept { return threads_.size(); }
  void join() noexcept {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace fairlead
