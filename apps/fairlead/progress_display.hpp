// What progress looks like: a line of text from what is known at a moment. Passive: it reads no clock and
// writes nowhere, so that tests show any moment on any terminal.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace fairlead::app {

/// Where a run stands. Tasks and flops are those of the phase, bytes those of the run.
struct ProgressSnapshot {
  std::string_view phase{};  ///< "factorization"; of static storage
  std::uint64_t tasks_done = 0;
  std::uint64_t tasks_total = 0;  ///< 0: not known yet
  double flops_done = 0;
  double flops_total = 0;  ///< 0: not known; progress is then that of the tasks
  Bytes bytes_read = 0;
  Bytes bytes_written = 0;
};

/// How progress is shown.
enum class ProgressStyle : std::uint8_t {
  none,   // not at all
  lines,  // now and then a line: for files and pipes
  bar,    // one line, drawn again in place: for terminals
};

/// The style that the setting `progress` asks for. "auto": a bar if `fd` is a terminal, lines otherwise.
ProgressStyle progress_style(std::string_view setting, int fd);

class ProgressDisplay {
 public:
  explicit ProgressDisplay(ProgressStyle style) : style_(style) {}

  /// What to write now: nothing, or for `bar` the line drawn over the one before, for `lines` a line with its
  /// end. Lines come at least five seconds apart, and not before a tenth more is done, a minute is over or a
  /// phase ends. `columns`: the width of the terminal; the last column stays free, so that no terminal wraps.
  std::string at(Time now, const ProgressSnapshot& snapshot, std::size_t columns);

  /// What to write when it is over: `bar` makes its line blank with the cursor at its begin; `lines` says how
  /// far it came, unless that was said already.
  std::string end(Time now, const ProgressSnapshot& snapshot);
  /// The same when it did not come to its end: no last line, since a message follows that says why.
  std::string abandon();

 private:
  struct Estimate {
    double fraction = 0;  // of the phase
    std::optional<double> gflops{}, seconds_left{};
  };
  void enter_phase(Time now, const ProgressSnapshot& snapshot);
  Estimate estimate(Time now, const ProgressSnapshot& snapshot) const;
  std::string bar(const ProgressSnapshot& snapshot, const Estimate& estimate, std::size_t columns);
  std::string line(Time now, const ProgressSnapshot& snapshot, const Estimate& estimate);

  ProgressStyle style_;
  std::optional<Time> began_;
  Time phase_began_{};
  ProgressSnapshot at_phase_begin_;
  std::size_t drawn_ = 0;  // columns of the bar on the screen
  std::optional<Time> last_line_;
  double last_line_fraction_ = 0;
  std::uint64_t last_line_tasks_ = 0;
};

}  // namespace fairlead::app
