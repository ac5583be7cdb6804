// One program on one machine under one policy, in virtual time.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.hpp"
#include "report/run_report.hpp"
#include "simulate/advice.hpp"
#include "simulate/machine.hpp"
#include "simulate/misjudged.hpp"
#include "simulate/program.hpp"
#include "simulate/slowdown.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::simulate {

/// What the policy hears of how urgent a task is.
enum class Priorities : std::uint8_t {
  program,  // what the program says
  time,     // the least time to the end: priorities_by_time()
};

struct SimulationOptions {
  Advice advice = Advice::none;
  Priorities priorities = Priorities::program;
  std::uint64_t seed = 1;
  unsigned noise_percent = 0;          ///< tasks and copies take up to this much longer or shorter
  std::vector<Slowdown> slow{};        ///< processors, for a while; policies do not know
  std::vector<Misjudged> misjudged{};  ///< kernels of which policies expect other durations than they have
  bool first_run = false;              ///< policies know no durations but those that tasks have taken
  std::size_t window = 0;              ///< unfinished tasks that the program runs ahead; 0: all of them
  std::size_t pipeline_depth = 0;      ///< 0: chosen from transfer and task times
  bool fixed_order = false;            ///< commutative tasks and reductions run in the program's order
  bool charge_decisions = false;       ///< a worker's next task begins after the time that deciding it took
  std::function<Time()> decision_clock{};  ///< by which that is measured; empty: this machine's
  Bytes trace_memory = 0;                  ///< for records of what happened; 0: none are kept
  bool keep_order = false;                 ///< of the tasks, in SimulationResult::order
  std::string event_log{};                 ///< where all that the engine is told is written; empty: nowhere
  std::uint64_t most_events = 0;           ///< more end the simulation with an Error; 0: no limit
};

/// When and where a task ran.
struct TaskRun {
  std::uint32_t task = 0;  ///< in Program::tasks
  WorkerId worker{};
  Time start{}, end{};
};

struct SimulationResult {
  double seconds = 0;  ///< until the results are back where the data were
  Bytes bytes_to_devices = 0, bytes_from_devices = 0, bytes_between_devices = 0;
  Bytes bytes_from_disk = 0, bytes_to_disk = 0;
  std::uint64_t tasks = 0, evictions = 0, events = 0;
  std::string deputy;               ///< of a policy that chooses among several: the last one that it took
  std::uint64_t fault_batches = 0;  ///< of managed memory
  double stalled_seconds = 0;       ///< kernels stood still for their pages; of all workers together
  double decision_seconds = 0;      ///< of real time, in the policy
  double simulation_seconds = 0;    ///< of real time, in all
  std::vector<report::LinkReport> links;
  /// All links of a sort as one, each copy once; of those that there are: "disk", "devices", "between
  /// devices".
  std::vector<report::LinkReport> totals;
  std::vector<report::NodeReport> nodes;
  std::vector<report::WorkerReport> workers;
  std::vector<TaskRun> order;  ///< by start
  std::uint64_t digest = 0;    ///< of all that the engine commanded
  std::optional<trace::Snapshot> recorded;
};

/// `policy` as for schedule::make_policy, or a plug-in. Throws Error if the run does not finish (the log is
/// then written, too), SystemError if that cannot be, FootprintError if a task does not fit, ConfigError for
/// a policy that there is not.
SimulationResult simulate(const Program& program, const SimulatedMachine& machine, const std::string& policy,
                          const SimulationOptions& options);
/// The same with a policy that has no name here.
SimulationResult simulate(const Program& program, const SimulatedMachine& machine,
                          std::unique_ptr<Policy> policy, const SimulationOptions& options);

}  // namespace fairlead::simulate
