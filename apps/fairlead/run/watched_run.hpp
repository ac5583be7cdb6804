// A run of a subcommand: an execution with a progress display and Ctrl-C handling.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/ranks.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/ranks/command_ranks.hpp"
#include "fairlead/run/interrupt.hpp"
#include "report/progress/progress_reporter.hpp"
#include "report/progress/status_server.hpp"
#include "report/trace_collection.hpp"
#include "solver/execution.hpp"

namespace fairlead::app {

using solver::Front;

class WatchedRun : public solver::Execution {
 public:
  /// `reserved`: bytes of the memory limit in addition to the tiles. Throws as Runtime.
  WatchedRun(const Config& config, Bytes reserved, linalg::Kernels kernels, Front front = Front::flow,
             const Rank& rank = {});
  /// Without remove_progress() the run has failed: the display ends without a last line.
  ~WatchedRun() override;

  /// Returns the result of body(). Sends its error to the other ranks, while the runtime still exists.
  template <class Body>
  auto report_failure_of(const Body& body) {
    try {
      return body();
    } catch (const std::exception& error) {
      runtime().give_up(message_to_ranks(error));
      throw;
    } catch (const Interrupted&) {
      runtime().give_up("it was interrupted");
      throw;
    }
  }

  /// As end(), which throws Interrupted after a signal. Then calls `last`, which completes the results, within
  /// the phase; signals no longer interrupt it.
  double end_by(const std::function<void()>& last);
  /// Collective. Called when only the first rank has work left: it publishes the results. The other ranks
  /// ignore signals from here on, so that no rank fails after the results are complete. Throws as end().
  void hand_over_to_first_rank();
  /// Prints a line to the standard error stream, above the display.
  void print_line(const std::string& line);
  /// Removes the display.
  void remove_progress();
  /// Completes the records of the run (Runtime::end_records). Returns the error, or an empty text. The
  /// results are valid in either case, so callers report the error last.
  std::string end_records();
  /// Collective. Returns the trace of this rank; on the first rank, those of all ranks, by its clock.
  std::vector<trace::Snapshot> collect_traces();

 private:
  void throw_if_cancelled() const override;
  void note(const std::string& text) override { print_line("fairlead: " + text); }
  void show_warning(const std::string& text) override { print_line("fairlead: " + text); }
  void stop();
  void start_progress();
  std::string status() const;

  bool is_first_;  // the first rank, which prints and shows progress
  report::ProgressStyle style_;
  std::optional<report::TracesOfRanks> traces_;  // if a report or trace is requested
  // Destroyed first, because they use the flow from other threads. Only one rank of a process has them.
  std::optional<Interrupt> interrupt_;
  std::optional<report::StatusServer> status_server_;
  std::optional<report::ProgressReporter> progress_;
};

}  // namespace fairlead::app
