// Standard streams whose failures do not end a run: writing to stdout and stderr never fails; write errors
// are available afterwards. Control characters are shown, not obeyed (base/printable.hpp).
#pragma once
#include <cstdio>

#include "base/printable.hpp"

namespace fairlead::app {

class StandardStreams {
 public:
  /// Opens closed streams on /dev/null: otherwise a file could get their descriptors, and output would be
  /// written into it.
  StandardStreams();
  /// Flushes. The streams stay: libraries may have kept them and write when the process ends.
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
