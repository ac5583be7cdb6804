// What the engine does with tasks of one role. As it stands here, it is what is done with the program's: nothing that
// is particular.
#pragma once
#include <memory>
#include <string>

#include "base/deliberate_mistake.hpp"
#include "engine/deliveries.hpp"
#include "engine/endings.hpp"
#include "engine/engine_view.hpp"
#include "engine/pseudo_tasks.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class Role {
 public:
  virtual ~Role() = default;
  /// It is ready, or was not admitted and is about to be tried again: ends it if it is not to be done, or need not be.
  /// True if so.
  virtual bool ends_unbegun(Task&, Commands&) { return false; }
  /// It is over, after it has run or without; memory knows that.
  virtual void over(Task&) {}
  /// What is wrong with such a task, in a log that says so; empty: nothing.
  virtual std::string fault(const Task&) const { return {}; }

  // ---- if no worker runs it

  /// It is admitted, and all its data are there.
  virtual void landed(Task&, Commands&) {}
  /// Some of its data could not be brought.
  virtual void failed(Task&, Commands&) {}
  /// Whoever it is for lets go, or wants it no more: however far it is.
  virtual void released(const HoldRelease&, Commands&) {}
};

/// What a role works with.
struct RoleParts {
  memory::Memory& memory;
  memory::Effects& effects;
  const EngineView& view;
  LaneGate& lane;
  Endings& endings;
  Journal& journal;
  Deliveries& deliveries;
  PseudoTasks& pseudo_tasks;
  const DeliberateMistake mistake;
};

}  // namespace fairlead::engine
