// How long a system call is repeated that signals interrupt. One interruption is usual; a thousand in a row are a file system or a
// tool that never lets it through, and then the call's EINTR is an error as others.
#pragma once
#include <cerrno>

namespace fairlead {

class Interruptions {
 public:
  static constexpr int most_in_a_row = 1000;

  /// After a call that failed: whether errno says that it was interrupted and it may be tried again.
  bool go_on() noexcept { return errno == EINTR && ++in_a_row_ < most_in_a_row; }
  /// After a call that did something.
  void end() noexcept { in_a_row_ = 0; }

 private:
  int in_a_row_ = 0;
};

}  // namespace fairlead
