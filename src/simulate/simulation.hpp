// Simulates one program on one machine under one policy, in virtual time.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.hpp"
#include "report/run_report.hpp"
#include "simulate/advice.hpp"
#include "simulate/estimate_errors.hpp"
#include "simulate/machine.hpp"
#include "simulate/program.hpp"
#include "simulate/slowdown.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::simulate {

/// The priorities of tasks that the policy uses.
enum class Priorities : std::uint8_t {
  program,  // those of the program
  time,     // by the least time to the end: priorities_by_time()
};

/// The settings of one simulated run.
struct SimulationOptions {
  Advice advice = Advice::none;
  Priorities priorities = Priorities::program;
  std::uint64_t seed = 1;
  unsigned noise_percent = 0;    ///< random variation of the duration of tasks and copies, up to this much
  std::vector<Slowdown> slow{};  ///< processors that are slower for a while, unknown to policies
  std::vector<EstimateError> misjudged{};  ///< kernels with wrong estimates
  bool first_run = false;  ///< policies start without estimates, and learn durations from finished tasks
  std::size_t window = 0;  ///< unfinished tasks that the program submits ahead; 0: no limit
  std::size_t pipeline_depth = 0;  ///< 0: derived from transfer and task times
  bool fixed_order = false;        ///< commutative tasks and reductions run in the program's order
  bool charge_decisions = false;   ///< delay a worker's next task by the real time that its decision took
  std::function<Time()> decision_clock{};  ///< clock for that time; empty: the machine's clock
  Bytes trace_memory = 0;                  ///< bytes for trace records; 0: none
  bool keep_order = false;                 ///< record the order of tasks in SimulationResult::order
  std::string event_log{};                 ///< file for all events of the engine; empty: none
  std::uint64_t most_events = 0;           ///< limit after which the simulation ends with an Error; 0: none
  /// Any thread may set it; simulate() then throws SimulationStopped.
  const std::atomic<bool>* stop_requested = nullptr;
};

/// The execution of a task.
struct TaskRun {
  std::uint32_t task = 0;  ///< index in Program::tasks
  WorkerId worker{};
  Time start{}, end{};
};

/// The measurements of one simulated run, in virtual time unless stated otherwise.
struct SimulationResult {
  double seconds = 0;  ///< until the results are in their home
  Bytes bytes_to_devices = 0, bytes_from_devices = 0, bytes_between_devices = 0;
  Bytes bytes_from_disk = 0, bytes_to_disk = 0;
  std::uint64_t tasks = 0, evictions = 0, events = 0;
  std::string active_policy;        ///< last active policy of a policy that selects among several
  std::uint64_t fault_batches = 0;  ///< of managed memory
  double stalled_seconds = 0;       ///< time that kernels waited for pages, summed over workers
  double decision_seconds = 0;      ///< real time spent in the policy
  double simulation_seconds = 0;    ///< real time in total
  std::vector<report::LinkReport> links;
  /// Links of each kind added up, each copy counted once; of the kinds that exist: "disk", "devices", "between
  /// devices".
  std::vector<report::LinkReport> totals;
  std::vector<report::NodeReport> nodes;
  std::vector<report::WorkerReport> workers;
  std::vector<TaskRun> order;  ///< by start time
  std::uint64_t digest = 0;    ///< hash of all commands of the engine
  std::optional<trace::Snapshot> recorded;
};

/// `policy` as for schedule::make_policy, or a plug-in. Throws Error if the run does not finish (the log is written
/// nevertheless), SystemError if the log cannot be written, FootprintError if a task does not fit, ConfigError for an
/// unknown policy.
SimulationResult simulate(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                          const SimulationOptions& options);
/// The same with a policy object.
SimulationResult simulate(const Program& program, const SimulatedMachine& machine,
                          std::unique_ptr<Policy> policy, const SimulationOptions& options);

}  // namespace fairlead::simulate
