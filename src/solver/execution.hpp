// A computation in phases: one runtime, one flow and, on request, parameterized graphs. It records the time of
// each phase. Other threads may read its progress and cancel it.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/ranks.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/time.hpp"
#include "report/progress/progress_display.hpp"
#include "report/run_report.hpp"

namespace fairlead::solver {

/// How the tasks of an algorithm reach the runtime.
enum class Front : std::uint8_t {
  flow,  // one after the other, in program order
  ptg,   // as a parameterized graph, which is never unrolled
  jdf,   // as such a graph from a JDF file; parts without a file are in C++
};

/// "flow", as the setting `front` has it.
std::string_view name_of(Front front) noexcept;

/// The moments of a solve between which reports count.
enum class Milestone : std::uint8_t {
  started,  // before the right-hand sides are read
  tiled,    // the matrix is in tiles, and the factorization starts
  solved,   // the solution is complete, and its check starts
};

class Execution {
 public:
  /// `reserved`: bytes of the memory limit in addition to the tiles. Throws as Runtime.
  Execution(const Config& config, Bytes reserved, linalg::Kernels kernels, Front front = Front::flow,
            const Rank& rank = {});
  /// The same on these backends.
  Execution(const Config& config, Bytes reserved, linalg::Kernels kernels, const backend::Backends& backends);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  virtual ~Execution();

  Runtime& runtime() noexcept { return runtime_; }
  const Runtime& runtime() const noexcept { return runtime_; }
  Flow& flow() noexcept { return *flow_; }
  Front front() const noexcept { return front_; }
  /// False in virtual time: tasks leave no results.
  virtual bool computes() const noexcept { return true; }

  /// Starts a phase. `name` must have static storage duration. `tasks` and `flops`: the totals of the phase
  /// over all ranks; 0: unknown.
  void begin(std::string_view name, std::uint64_t tasks = 0, double flops = 0);
  /// Submits algorithm(front) to the flow, or builds a parameterized graph with it and runs the graph. Throws
  /// as end().
  template <class Algorithm>
  void compute(const Algorithm& algorithm) {
    if (front_ == Front::flow) return algorithm(*flow_);
    ptg::Graph graph(runtime_);
    algorithm(graph);
    run(graph);
  }
  /// Waits for all submitted tasks; the phase continues. Throws as end().
  void wait();
  /// Runs a graph to completion. Throws as end().
  void run(ptg::Graph& graph);
  /// Waits for the tasks and ends the phase; with `flushed`, also waits until all results are on disk.
  /// Returns the seconds since begin(). Throws what throw_if_cancelled() throws, otherwise as
  /// linalg::wait_for_results.
  double end(bool flushed = false);
  /// As end(), for a phase that is not part of the run's time: preparation, checks.
  double end_uncounted(bool flushed = false);
  /// After an error: ends the current phase, which is part of the run's time. Returns its seconds; 0 without
  /// a phase.
  double give_up();
  /// All finished phases.
  const std::vector<report::PhaseReport>& phases() const noexcept { return phases_; }

  /// A remark for the user, one sentence without a full stop: kept, and shown at once by executions that show
  /// anything.
  void warn(const std::string& text);
  /// What the user should know although nothing is wrong, one sentence without a full stop: shown, but not kept.
  virtual void note(const std::string&) {}
  /// The remarks so far.
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// Called by a solve at each of these moments.
  virtual void reached(Milestone) {}

  /// Cancels all tasks, for a run whose data are not needed again. Thread-safe.
  void cancel();
  /// Cancels the tasks of the flow; the data that they did not write stay valid. Thread-safe.
  void cancel_flow();
  /// After cancel_flow(), when no task runs: makes a new flow.
  void renew_flow();
  /// Thread-safe.
  report::ProgressSnapshot progress() const;

 protected:
  /// Throws if a cancellation was requested: an error about cancelled tasks would be redundant.
  virtual void throw_if_cancelled() const {}
  virtual void show_warning(const std::string&) {}
  void wait_for_tasks(bool flushed);
  double record_phase(std::string_view how);

 private:
  void show_live();
  struct Current {
    std::string_view name;
    std::uint64_t tasks_before = 0, tasks = 0, tasks_of_graphs = 0;
    double flops_before = 0, flops = 0;
  };

  linalg::Kernels kernels_;
  Runtime runtime_;
  mutable std::mutex mutex_;  // guards current_, graph_ and the exchange of flow_, which other threads use
  std::optional<Flow> flow_;
  Current current_;
  ptg::Graph* graph_ = nullptr;  // the running graph
  Front front_;
  bool in_phase_ = false;  // between begin() and end()
  Time phase_start_{};     // by the runtime's clock
  std::vector<report::PhaseReport> phases_;
  std::vector<std::string> warnings_;
};

}  // namespace fairlead::solver
