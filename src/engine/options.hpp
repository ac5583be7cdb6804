// What an engine is made with, besides its machine and its policy.
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
#include "policy/rehearsal.hpp"

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
  std::size_t reporters = 1;  ///< threads that complete tasks
  bool direct_lane = false;   ///< tasks may pass the engine by while all data fit; worlds must know it
  bool log = false;
  Bytes trace_memory = 0;         ///< for records of what happens; 0: nothing is recorded
  bool first_bodies = false;      ///< of several for one kind of worker the first runs, not the fastest
  bool keep_ids = false;          ///< no datum gets the id of another that is gone
  bool check_invariants = false;  ///< after every served batch; slow
  /// What the model of durations starts with: what earlier runs on this machine found.
  model::KeptDurations durations;
  /// How long a task takes where that is known beforehand (simulation), the same on all workers of one
  /// processor; else it is learned.
  std::function<Duration(const Task&, WorkerId)> estimate;
  /// Makes what plays tasks under policies that are not chosen yet; unset: nobody does. The view is the engine's, which
  /// is to be told when a rehearsal is over: by any thread, the event stays where it is.
  using TellOver = std::function<void(RehearsalOver&)>;
  std::function<std::unique_ptr<Rehearsal>(const memory::Memory&, const View&, TellOver)> rehearsal;
  DeliberateMistake mistake{};
};

}  // namespace fairlead::engine
