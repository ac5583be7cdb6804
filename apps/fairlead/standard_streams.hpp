// Standard streams that a run does not depend on: writing to stdout and stderr never fails, so that nothing has to end for
// it; what could not be written is known afterwards. What a terminal would obey is shown instead (base/printable.hpp).
#pragma once
#include <cstdio>

#include "base/printable.hpp"

namespace fairlead::app {

class StandardStreams {
 public:
  /// Streams that are closed are opened, on nothing: a file could get their numbers otherwise, and what is
  /// said would be written into it.
  StandardStreams();
  /// Writes what is left. The streams stay: libraries may have noted them, and write when the process ends.
  ~StandardStreams();
  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;

  /// 0, or the errno of what could not be written to the standard output up to now.
  int output_error();

 private:
  struct Stream {
    int number = 0;
    int error = 0;  // the first one
    Printable characters{};
  };
  static Stream& of_process(int number);
  static ssize_t write(void* to, const char* text, size_t bytes);
  static void replace(Stream& stream, std::FILE*& standard, int buffering);

  Stream& output_;
};

}  // namespace fairlead::app
