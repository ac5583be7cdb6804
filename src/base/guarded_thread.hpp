// How threads start: nothing that is thrown leaves a thread's function, which would end the process by abort(), and no
// thread that has been started is destroyed without a join. tests/repository/test_threads.py finds threads that start in
// another way.
#pragma once
#include <cxxabi.h>

#include <cstddef>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead {

/// Starts a thread that runs `body`. `failed` gets what `body` throws, on that thread; it must not throw. Throws
/// std::system_error or std::bad_alloc if there is no thread.
template <class Body, class Failed>
std::thread guarded_thread(Body body, Failed failed) {
  return std::thread([body = std::move(body), failed = std::move(failed)]() mutable {
    try {
      body();
    } catch (abi::__forced_unwind&) {  // pthread_exit: cannot be stopped
      throw;
    } catch (...) {
      failed(std::current_exception());
    }
  });
}

/// For a thread that the work does not depend on: it ends when its body throws.
inline void ignore_failure(const std::exception_ptr&) noexcept {}

/// Threads that are joined at the end of their scope, however it is left. To be declared after all that they use.
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
