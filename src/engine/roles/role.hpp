// The engine's treatment of tasks of one role. The default is that of the program's tasks: nothing special.
#pragma once
#include <memory>
#include <string>

#include "base/deliberate_mistake.hpp"
#include "engine/completions.hpp"
#include "engine/deliveries.hpp"
#include "engine/engine_view.hpp"
#include "engine/pseudo_tasks.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class Role {
 public:
  virtual ~Role() = default;
  /// Called when the task is ready, and before each new attempt to admit it. Ends the task if it must not run or need
  /// not run; returns true if it did.
  virtual bool try_skip(Task&, Commands&) { return false; }
  /// The task is finished, with or without running; memory has been notified.
  virtual void over(Task&) {}
  /// Checks a task read from a log. Returns what is wrong with it; empty if nothing is.
  virtual std::string check_logged(const Task&) const { return {}; }

  // ---- pseudo-tasks only

  /// The task is admitted, and all its data have arrived.
  virtual void data_arrived(Task&, Commands&) {}
  /// Some of its data could not be copied.
  virtual void failed(Task&, Commands&) {}
  /// Its requester releases it or gives it up, in whatever state it is.
  virtual void released(const HoldRelease&, Commands&) {}
};

/// The parts of the engine that roles use.
struct RoleParts {
  memory::Memory& memory;
  memory::Effects& effects;
  const EngineView& view;
  FastPathControl& fast_path;
  Completions& endings;
  RunRecords& journal;
  PendingDeliveries& deliveries;
  PseudoTasks& pseudo_tasks;
  const DeliberateMistake mistake;
};

}  // namespace fairlead::engine
