// What-if simulation: the remaining tasks are simulated under candidate policies, in parallel with the run, and the
// result is reported to the active policy.
#pragma once
#include <fairlead/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "data/task.hpp"

namespace fairlead {

/// The simulated duration of a set of tasks, the times at which one, two and three quarters of the work were finished,
/// and the bytes that were copied over all links.
struct SimulationOutcome {
  Duration time = Duration::max();  ///< max: longer than the limits, or it cannot be simulated
  std::array<Duration, 3> quarters{};
  Bytes bytes_moved = 0;
  bool completed() const noexcept { return time != Duration::max(); }
};

/// A simulator for a fixed set of tasks, which can be simulated repeatedly.
class Simulator {
 public:
  virtual ~Simulator() = default;
  /// Simulates the tasks under each of these policies, concurrently if threads are available. The tasks are submitted
  /// in program order, none has started, and data are where they were on the machine; tasks take their estimated
  /// durations, and results are written back. A simulation ends when `enough` work is finished, where each task counts
  /// with its duration on its fastest worker; for all work, when the last result is home. SimulationOutcome::completed() is false if
  /// that takes longer than `patience`, or 1.5 times as long as another policy, or if it cannot be simulated.
  virtual std::vector<SimulationOutcome> simulate(std::span<const std::string> policies, Duration enough,
                                                  Duration patience) = 0;
  SimulationOutcome simulate(const std::string& policy, Duration enough, Duration patience) {
    return simulate(std::span(&policy, 1), enough, patience).front();
  }
};

/// The event that ends a what-if simulation.
struct SimulationFinished : Event {
  std::uint64_t result = 0;
};

class WhatIfSimulation {
 public:
  /// Runs simulations and returns a finding, whose meaning the policy defines; 0: no finding. Called by any thread,
  /// without a lock: it may use only the stage and what it owns.
  using Evaluation = std::function<std::uint64_t(Simulator&)>;

  /// The share of the processors that the simulating threads get.
  enum class Priority : std::uint8_t {
    lowest,  // tasks run at the same time
    normal,  // workers wait for the result: on a busy machine, they would wait for long otherwise
  };

  virtual ~WhatIfSimulation() = default;
  /// Records these unfinished tasks and their properties, and returns. Policy::simulation_finished() follows with the judge's
  /// finding, or 0 if the judge could not be called. Throws Error while another what-if simulation runs.
  void start(std::span<Task* const> tasks, Evaluation judge, Priority priority = Priority::lowest) {
    if (under_way_)
      throw Error("internal: the policy starts a what-if simulation while another one is running");
    under_way_ = true;
    priority_ = priority;
    try {
      capture(tasks, std::move(judge));
    } catch (...) {
      under_way_ = false;
      throw;
    }
  }
  /// Whether a what-if simulation was started and Policy::simulation_finished() has not been called. Policy::awaits_simulation() is respected
  /// only during that time.
  bool is_running() const noexcept { return under_way_; }
  /// Policy::simulation_finished() is about to be called.
  void note_finished() noexcept { under_way_ = false; }
  /// The priority of the last simulation.
  Priority priority() const noexcept { return priority_; }
  /// The number of unused cores: this many concurrent simulations do not slow the run down. 0: simulations take time
  /// from workers.
  virtual std::size_t idle_cores() const noexcept { return 0; }
  /// The finding is not needed any more: simulations end soon. Policy::simulation_finished() is still called.
  virtual void cancel() noexcept {}

 private:
  virtual void capture(std::span<Task* const> tasks, Evaluation judge) = 0;

  bool under_way_ = false;
  Priority priority_ = Priority::lowest;
};

/// The cost of simulating one task under one policy, as measured on an AMD EPYC. Workers beyond `few` add to it, since
/// idle workers are polled repeatedly. This estimate, not a clock, limits the number of simulations, so that decisions
/// are reproducible.
constexpr Duration simulation_cost_per_task(std::size_t nodes, std::size_t workers) noexcept {
  constexpr std::size_t few = 8;
  return Duration(2000 + 300 * static_cast<std::int64_t>(nodes) +
                  400 * static_cast<std::int64_t>(workers > few ? workers - few : 0));
}

}  // namespace fairlead
