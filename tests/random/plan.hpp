// The plan drawn from a seed: a program, a machine, a policy and the faults. It is complete before the run starts, so
// it can be printed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "engine/engine.hpp"
#include "machine/topology.hpp"
#include "random/program.hpp"

namespace fairlead::random_runs {

struct RunOptions {
  std::string policy = "eager";
  bool copies_fail = false;
  bool write_backs_fail = false;
  bool tasks_fail = false;
  bool cancels = false;
  bool holds = false;  ///< the application acquires data in between
  bool devices_are_lost = false;
  bool pauses = false;  ///< all workers pause now and then, while all data go to their homes
  bool tight = true;    ///< capacity near the largest footprint
  std::size_t tasks = 150;
  DeliberateMistake mistake{};
  /// Given the engine at the end, however the run ended. If set, the engine keeps a log.
  std::function<void(const engine::Engine&)> at_end{};
};

/// One of all kinds of runs and of all policies, by the seed alone. Another policy changes nothing else.
RunOptions options_of(std::uint64_t seed);

struct RunPlan {
  RunPlan(std::uint64_t seed, RunOptions options);

  /// A few lines for people: the machine, the program, the policy and the faults.
  std::string text() const;
  /// Memory nodes with a capacity.
  std::size_t caches() const noexcept { return machine.nodes.size() - 2; }
  /// Of how many kinds; what only slows down is none.
  int faults() const noexcept {
    return options.copies_fail + options.write_backs_fail + options.tasks_fail + options.cancels +
           !lost_devices.empty();
  }

 private:
  Random random_;  // everything below is drawn from it, in this order

 public:
  const std::uint64_t seed;
  const RunOptions options;
  const bool several_kinds;  ///< of workers
  const RandomProgram program;
  const Topology machine;
  std::uint64_t simulator_seed = 0, application_seed = 0;
  /// 0: never.
  std::uint64_t copy_stalls_once_in = 0, recall_refused_once_in = 0, copy_fails_once_in = 0,
                write_back_fails_once_in = 0, task_fails_once_in = 0, copy_reported_late_once_in = 0;
  std::int64_t time_scale = 1;  ///< of tasks, in ns
  std::size_t pipeline_depth = 0, window = 0;
  bool short_of_space = false;                    ///< for partial results of reductions
  std::vector<backend::WorkerLoss> lost;          ///< others of their kinds remain
  std::vector<backend::DeviceLoss> lost_devices;  ///< the same
};

}  // namespace fairlead::random_runs
