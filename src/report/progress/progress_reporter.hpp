// Shows the progress of a run on the standard error stream, from a separate thread that polls it, so that the
// run is not slowed down.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/time.hpp"
#include "report/progress/progress_display.hpp"

namespace fairlead::report {

class ProgressReporter {
 public:
  struct Options {
    ProgressStyle style = ProgressStyle::none;
    /// Called by the display thread and, after that has ended, by the caller of stop(). Must be thread-safe
    /// and valid until stop() has returned. Must not throw.
    std::function<ProgressSnapshot()> snapshot;
    int fd = 2;  ///< the standard error stream
    Duration interval = std::chrono::milliseconds(200);
    std::function<Time()> now = {};  ///< the steady clock if empty
    /// If empty, the width of the terminal at `fd`, or 80 if it is unknown.
    std::function<std::size_t()> columns = {};
  };

  /// Starts the display. With ProgressStyle::none there is no thread and `snapshot` is never called.
  explicit ProgressReporter(Options options);
  /// As stop().
  ~ProgressReporter();
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

  /// Ends the thread, then clears the line of the terminal or writes a last line. Idempotent. Call it before
  /// any other output to the terminal.
  void stop();
  /// As stop(), without the last line: for a failed run.
  void abandon();

 private:
  bool end_thread();
  void show();
  void write(const std::string& text) const;

  Options options_;
  ProgressDisplay display_;  // used by the thread while it runs, then by stop()
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;     // initialized last, because it uses the other members
};

}  // namespace fairlead::report
