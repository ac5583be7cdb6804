// A run of a subcommand: one runtime, one flow and, on request, parameterized graphs, with a progress
// display, Ctrl-C handling, and the times of phases.
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
  /// Without remove_progress() the run has failed: the display ends without a last line.
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

  /// Starts a phase. `name` must have static storage duration. `tasks` and `flops`: the totals of the phase
  /// over all ranks, for the progress display; 0: unknown.
  void begin(std::string_view name, std::uint64_t tasks = 0, double flops = 0);
  Front front() const noexcept { return front_; }
  /// Submits algorithm(front) to the flow, or builds a parameterized graph with it and runs the graph. Throws
  /// as end().
  template <class Algorithm>
  void compute(const Algorithm& algorithm) {
    if (front_ == Front::flow) return algorithm(flow_);
    ptg::Graph graph(runtime_);
    algorithm(graph);
    run(graph);
  }
  /// Waits for all submitted tasks; the phase continues. Throws as end().
  void wait();
  /// Runs a graph to completion. Throws as end().
  void run(ptg::Graph& graph);
  /// Waits for the tasks and ends the phase; with `flushed`, also waits until all results are on disk.
  /// Returns the seconds since begin(). Throws Interrupted after a signal, otherwise as
  /// linalg::wait_for_results.
  double end(bool flushed = false);
  /// As end(). Then calls `last`, which completes the results, within the phase; signals no longer interrupt
  /// it.
  double end_by(const std::function<void()>& last);
  /// Collective. Called when only the first rank has work left: it publishes the results. The other ranks
  /// ignore signals from here on, so that no rank fails after the results are complete. Throws as end().
  void hand_over_to_first_rank();
  /// As end(), for a phase that is not part of the run's time: preparation, checks.
  double end_uncounted(bool flushed = false);
  /// After an error: ends the current phase, which is part of the run's time. Returns its seconds; 0 without
  /// a phase.
  double give_up();
  /// All finished phases.
  const std::vector<report::PhaseReport>& phases() const noexcept { return phases_; }
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
  void wait(bool flushed);
  double record_phase(std::string_view how);
  void cancel();
  void start_progress();
  void throw_if_interrupted() const;
  ProgressSnapshot snapshot() const;
  std::string status() const;

  linalg::Kernels kernels_;
  Runtime runtime_;
  Flow flow_;
  struct Current {
    std::string_view name;
    std::uint64_t tasks_before = 0, tasks = 0, tasks_of_graphs = 0;
    double flops_before = 0, flops = 0;
  };
  mutable std::mutex mutex_;  // guards current_, which the display reads, and graph_
  Current current_;
  ptg::Graph* graph_ = nullptr;  // the running graph
  Front front_;
  bool is_first_;  // the first rank, which prints and shows progress
  ProgressStyle style_;
  bool in_phase_ = false;           // between begin() and end()
  double phase_start_seconds_ = 0;  // seconds on the steady clock
  Time phase_start_time_{};         // the same by the runtime's clock
  std::vector<report::PhaseReport> phases_;
  std::optional<report::TracesOfRanks> traces_;  // if a report or trace is requested
  // Destroyed first, because they use the flow from other threads. Only one rank of a process has them.
  std::optional<Interrupt> interrupt_;
  std::optional<StatusServer> status_server_;
  std::optional<ProgressReporter> progress_;
};

}  // namespace fairlead::app
