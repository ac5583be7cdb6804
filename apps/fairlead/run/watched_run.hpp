// An interactive run: one runtime, one flow and, on request, parameterized graphs, with a progress display,
// handling of Ctrl-C, and times of phases.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/ranks.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "fairlead/problem/front.hpp"
#include "fairlead/ranks/command_ranks.hpp"
#include "fairlead/run/interrupt.hpp"
#include "fairlead/run/progress_reporter.hpp"
#include "fairlead/run/status_server.hpp"
#include "report/run_report.hpp"
#include "report/trace_collection.hpp"

namespace fairlead::app {

class WatchedRun {
 public:
  /// `reserved`: bytes of the memory limit in addition to the tiles. Throws as Runtime.
  WatchedRun(const Config& config, Bytes reserved, linalg::Kernels kernels, Front front = Front::flow,
             const Rank& rank = {});
  /// Without stop_showing() the run has failed: the display ends without a last line.
  ~WatchedRun();

  Runtime& runtime() noexcept { return runtime_; }
  Flow& flow() noexcept { return flow_; }

  /// Returns the result of body(). Sends its error to the other ranks, while the runtime still exists.
  template <class Body>
  auto report_failure_of(const Body& body) {
    try {
      return body();
    } catch (const std::exception& error) {
      runtime_.give_up(message_to_ranks(error));
      throw;
    } catch (const Interrupted&) {
      runtime_.give_up("it was interrupted");
      throw;
    }
  }

  /// Starts a phase; `name` of static storage. The totals are of the phase, for the progress display; 0:
  /// unknown.
  void begin(std::string_view name, std::uint64_t tasks = 0, double flops = 0);
  Front front() const noexcept { return front_; }
  /// Runs algorithm(front) on the flow, or else on a parameterized graph, which then runs. Throws as end().
  template <class Algorithm>
  void compute(const Algorithm& algorithm) {
    if (front_ == Front::flow) return algorithm(flow_);
    ptg::Graph graph(runtime_);
    algorithm(graph);
    run(graph);
  }
  /// Waits for the tasks so far; the phase goes on. Throws as end().
  void wait();
  /// Runs the tasks of a graph, and waits for them. Throws as end().
  void run(ptg::Graph& graph);
  /// Waits for the tasks; with `flushed`, until all results are on disk as well. Returns the seconds since
  /// begin(). Throws Interrupted if a signal came, otherwise as linalg::wait_for_results.
  double end(bool flushed = false);
  /// As end(); calls `last`, which completes the results, after the last check for signals, as a part of the
  /// phase.
  double end_by(const std::function<void()>& last);
  /// All ranks call it when only the first has work left, which publishes the results. The others ignore
  /// signals from here on, so that none ends by a signal after the results are complete. Throws as end().
  void leave_to_first();
  /// As end(), for a phase that does not count in the run's time: preparation, checks.
  double end_aside(bool flushed = false);
  /// After an error: ends the phase, which counts. Returns its seconds; 0 without a phase.
  double give_up();
  /// All finished phases.
  const std::vector<report::PhaseReport>& phases() const noexcept { return phases_; }
  /// Prints a line to the standard error stream, above the display.
  void say(const std::string& line);
  /// Removes the display.
  void stop_showing();
  /// Ends the records of the run (Runtime::end_records). Returns their error, or an empty text. The results
  /// are valid in either case, so callers report it last.
  std::string end_records();
  /// The trace of this rank and, on the first one, those of all ranks by its clock. All ranks call it.
  std::vector<trace::Snapshot> recorded();

 private:
  void wait(bool flushed);
  double ended(std::string_view how);
  void cancel();
  void show();
  void throw_if_interrupted() const;
  ProgressSnapshot snapshot() const;
  std::string status() const;

  linalg::Kernels kernels_;
  Runtime runtime_;
  Flow flow_;
  struct Current {
    std::string_view name;
    std::uint64_t tasks_before = 0, tasks = 0, by_graphs = 0;
    double flops_before = 0, flops = 0;
  };
  mutable std::mutex mutex_;  // guards current_, which the display reads, and graph_
  Current current_;
  ptg::Graph* graph_ = nullptr;  // that runs
  Front front_;
  bool is_first_;  // the first rank, which prints and shows progress
  ProgressStyle style_;
  bool under_way_ = false;  // in a phase
  double began_ = 0;        // seconds on the steady clock
  Time began_at_{};         // on the runtime's
  std::vector<report::PhaseReport> phases_;
  std::optional<report::TracesOfRanks> traces_;  // if a report or trace is requested
  // Destroyed first, since they use the flow from other threads. Only one rank of a process has them.
  std::optional<Interrupt> interrupt_;
  std::optional<StatusServer> status_server_;
  std::optional<ProgressReporter> progress_;
};

}  // namespace fairlead::app
