// The progress of the program's current phase, for the live page. The code that knows it registers a function.
#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace fairlead::front {

struct LiveProgress {
  std::string phase{};  ///< "factorization"
  std::uint64_t tasks_done = 0;
  std::uint64_t tasks_total = 0;  ///< 0: unknown
  double flops_done = 0;
  double flops_total = 0;  ///< 0: unknown; progress is then that of the tasks
};

class LiveProgressSource {
 public:
  using Function = std::function<LiveProgress()>;

  /// `function` may be called by any thread until it is replaced; when this returns, no call of the former one runs.
  /// Empty: the last progress remains.
  void set(Function function) {
    const std::lock_guard guard(mutex_);
    if (!function && function_) last_ = function_();
    function_ = std::move(function);
  }
  /// Nothing if no function was ever set.
  std::optional<LiveProgress> now() const {
    const std::lock_guard guard(mutex_);
    return function_ ? function_() : last_;
  }

 private:
  mutable std::mutex mutex_;  // guards the members, and is held during calls
  Function function_;
  std::optional<LiveProgress> last_;
};

}  // namespace fairlead::front
