// The text of the progress display at a given time. Passive: it reads no clock and writes nothing, so tests
// can check any time on any terminal.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace fairlead::report {

/// The progress of a run. Tasks and flops are those of the phase, bytes those of the run.
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

  /// The text to write now: nothing, or for `bar` the line drawn over the previous one, for `lines` a line.
  /// Lines have at least five seconds between them, and appear when another tenth is done, after a minute, or
  /// at the end of a phase. `columns`: the width of the terminal; the last column stays free, so that no
  /// terminal wraps.
  std::string at(Time now, const ProgressSnapshot& snapshot, std::size_t columns);

  /// The text to write at the end: `bar` blanks its line, with the cursor at its start; `lines` prints the
  /// final progress, unless it was printed before.
  std::string end(Time now, const ProgressSnapshot& snapshot);
  /// The same for a run that failed: no last line, since an error message follows.
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

}  // namespace fairlead::report
