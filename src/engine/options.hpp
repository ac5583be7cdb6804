// The options of an engine, in addition to its machine and its policy.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/deliberate_mistake.hpp"
#include "data/task.hpp"
#include "model/kept_duration.hpp"
#include "policy/what_if_simulation.hpp"

namespace fairlead {
class View;
}
namespace fairlead::memory {
class Memory;
}

namespace fairlead::engine {

struct Options {
  std::string policy_name;         ///< for reports
  std::size_t pipeline_depth = 0;  ///< 0: chosen from transfer and task times
  std::uint64_t seed = 1;
  std::size_t reporters = 1;  ///< the number of threads that complete tasks
  bool fast_path = false;     ///< allow the fast path while all data fit; the world must support it
  bool log = false;
  Bytes trace_memory = 0;  ///< bytes for trace records; 0: nothing is recorded
  /// of several implementations for a kind of worker, run the first, not the fastest
  bool first_bodies = false;
  bool keep_ids = false;          ///< do not reuse the ids of removed data
  bool check_invariants = false;  ///< after each served batch; slow
  /// The initial contents of the duration model: results of earlier runs on this machine.
  model::KeptDurations durations;
  /// The duration of a task, where known in advance (simulation); equal on all workers of one processor. Unset:
  /// durations are learned.
  std::function<Duration(const Task&, WorkerId)> estimate;
  /// Creates the what-if simulator for candidate policies; unset: there is none. The view is the engine's. Any thread
  /// may pass the completion event to the TellOver function; the event must stay valid.
  using TellOver = std::function<void(SimulationFinished&)>;
  std::function<std::unique_ptr<WhatIfSimulation>(const memory::Memory&, const View&, TellOver)>
      what_if_simulation;
  DeliberateMistake mistake{};
};

}  // namespace fairlead::engine
