// Limits the retries of a system call that signals interrupt. One interruption is usual. A thousand in a row mean a
// file system or tool that never lets the call succeed; then EINTR is an error like others.
#pragma once
#include <cerrno>

namespace fairlead {

class Interruptions {
 public:
  static constexpr int most_in_a_row = 1000;

  /// After a failed call: true if errno is EINTR and the call may be retried.
  bool retry() noexcept { return errno == EINTR && ++in_a_row_ < most_in_a_row; }
  /// After a call that made progress.
  void end() noexcept { in_a_row_ = 0; }

 private:
  int in_a_row_ = 0;
};

}  // namespace fairlead
