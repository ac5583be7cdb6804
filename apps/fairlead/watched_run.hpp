// A run that somebody watches: one runtime, one flow, and parameterized graphs where they are asked for, with progress shown, Ctrl-C heeded, and each phase
// timed.
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
#include "fairlead/command_ranks.hpp"
#include "fairlead/front.hpp"
#include "fairlead/interrupt.hpp"
#include "fairlead/progress.hpp"
#include "fairlead/status_server.hpp"
#include "report/run_report.hpp"
#include "report/trace_collection.hpp"

namespace fairlead::app {

class WatchedRun {
 public:
  /// `reserved`: bytes of the memory limit that are used besides the tiles. Throws as Runtime.
  WatchedRun(const Config& config, Bytes reserved, linalg::Kernels kernels, Front front = Front::flow,
             const Rank& rank = {});
  /// Without stop_showing() it has failed: the display goes without a last word.
  ~WatchedRun();

  Runtime& runtime() noexcept { return runtime_; }
  Flow& flow() noexcept { return flow_; }

  /// Returns what body() returns. The other ranks learn what it throws, as they cannot after the end of the runtime.
  template <class Body>
  auto telling_ranks(const Body& body) {
    try {
      return body();
    } catch (const std::exception& error) {
      runtime_.give_up(told_of(error));
      throw;
    } catch (const Interrupted&) {
      runtime_.give_up("it was interrupted");
      throw;
    }
  }

  /// From here on time is that of this phase; `name` of static storage. The totals are of the phase, for the
  /// progress; 0 = unknown.
  void begin(std::string_view name, std::uint64_t tasks = 0, double flops = 0);
  Front front() const noexcept { return front_; }
  /// What algorithm(front) submits to the flow or else to a parameterized graph, which is then run. Throws as end().
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
  /// begin(). Throws Interrupted if the user wants the end, else as linalg::wait_for_results.
  double end(bool flushed = false);
  /// The same, and `last`, with which the results are there, is done after the last look at signals, as a part of the phase.
  double end_by(const std::function<void()>& last);
  /// All ranks call it when only the first has something left to do: it gives out the results. The others are not interrupted any
  /// more, so that none ends by a signal when they are there. Throws as end().
  void leave_to_first();
  /// The same of a phase that the run's time does not count: preparing, checking.
  double end_aside(bool flushed = false);
  /// After an error: the phase has ended by that, and counts. Returns its seconds; 0 if none was under way.
  double give_up();
  /// Of all phases that ended.
  const std::vector<report::Phase>& phases() const noexcept { return phases_; }
  /// A line to the standard error stream that the display does not spoil.
  void say(const std::string& line);
  /// Takes the display away: nothing more is shown.
  void stop_showing();
  /// The run is over: ends what was written down meanwhile (Runtime::end_records). What is wrong with that;
  /// empty if nothing is. It does not take away from what was computed, so it is told last.
  std::string end_records();
  /// What was recorded: of this rank, and on the first one of the others, by its clock. All ranks call it.
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
  bool is_first_;  // of the ranks: it shows and says what there is
  ProgressStyle style_;
  bool under_way_ = false;  // a phase is
  double began_ = 0;        // seconds on the steady clock
  Time began_at_{};         // on the runtime's
  std::vector<report::Phase> phases_;
  std::optional<report::TracesOfRanks> traces_;  // if somebody wants to see what happened
  // What follows is taken down first: it uses the flow from other threads. Of several ranks of a process, one has it.
  std::optional<Interrupt> interrupt_;
  std::optional<StatusServer> status_server_;
  std::optional<Progress> progress_;
};

}  // namespace fairlead::app
