// How tasks end: how many have run, and what follows for those that will not. One place for all of it, so
// that no way to drop a task forgets somebody who has to hear of it.
#pragma once
#include <cstdint>

#include "engine/deliveries.hpp"
#include "engine/journal.hpp"
#include "engine/lane_gate.hpp"
#include "engine/pipelines.hpp"
#include "engine/policy_in_use.hpp"
#include "engine/stop.hpp"
#include "engine/world.hpp"

namespace fairlead::engine {

class Roles;

/// Under the engine's lock.
class Endings {
 public:
  Endings(memory::Memory& memory, memory::Effects& effects, LaneGate& lane, Pipelines& pipelines,
          PolicyInUse& policy, Journal& journal, Deliveries& deliveries, const Stop& stop, Roles& roles)
      : memory_(memory),
        effects_(effects),
        lane_(lane),
        pipelines_(pipelines),
        policy_(policy),
        journal_(journal),
        deliveries_(deliveries),
        stop_(stop),
        roles_(roles) {}

  /// The run cannot go on, or its flow was cancelled.
  bool unwanted(const Task& task) const noexcept {
    return stop_.error() != 0 || task.source()->cancelled.load(std::memory_order_relaxed);
  }
  /// The task must not run: it is unwanted, or reads what another should have written and has not.
  bool hopeless(const Task& task) const { return unwanted(task) || memory_.poison().is_read_by(task); }
  /// The task will not run, however far it is: waiting (for its turn to be ready), ready (given out by the
  /// policy), picked, or admitted. What it was to write is poisoned.
  void drop(Task& task, Commands& out);
  /// One of its copies failed: the same, but it did not run for a reason of its own.
  void drop_failed(Task& task, Commands& out);
  /// It is ready, and there is nothing to do for it.
  void skip(Task& task, Commands& out);
  /// The task, which no worker runs, is over.
  void end(Task& task, Commands& out);
  /// The same; what it was to write is not as it should be.
  void refuse(Task& task, Commands& out);
  /// It has run; memory knows that.
  void ran(Task& task);

  std::uint64_t done() const noexcept { return done_; }
  /// Over without having run.
  std::uint64_t cancelled() const noexcept { return cancelled_; }
  /// There was nothing to do for them; they count as neither.
  std::uint64_t skipped() const noexcept { return skipped_; }

 private:
  /// For the digest of commands.
  enum class How : std::uint8_t { cancelled, copy_failed, pseudo, skipped };
  void leave(Task& task);
  void complete(Task& task, How how, Commands& out);

  memory::Memory& memory_;
  memory::Effects& effects_;
  LaneGate& lane_;
  Pipelines& pipelines_;
  PolicyInUse& policy_;
  Journal& journal_;
  Deliveries& deliveries_;
  const Stop& stop_;
  Roles& roles_;
  std::uint64_t done_ = 0, cancelled_ = 0, skipped_ = 0;
};

}  // namespace fairlead::engine
