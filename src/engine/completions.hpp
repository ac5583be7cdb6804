// The one place where tasks end: counts those that have run, and drops those that will not. So every way to drop a task
// notifies all parts of the engine that need to be notified.
#pragma once
#include <cstdint>

#include "engine/deliveries.hpp"
#include "engine/fast_path_control.hpp"
#include "engine/pipelines.hpp"
#include "engine/policy_in_use.hpp"
#include "engine/run_records.hpp"
#include "engine/stop.hpp"
#include "engine/world.hpp"

namespace fairlead::engine {

class Roles;

/// Under the engine's lock.
class Completions {
 public:
  Completions(memory::Memory& memory, memory::Effects& effects, FastPathControl& fast_path,
              Pipelines& pipelines, PolicyInUse& policy, RunRecords& journal, PendingDeliveries& deliveries,
              const StopReason& stop, Roles& roles)
      : memory_(memory),
        effects_(effects),
        fast_path_(fast_path),
        pipelines_(pipelines),
        policy_(policy),
        journal_(journal),
        deliveries_(deliveries),
        stop_(stop),
        roles_(roles) {}

  /// Whether the task need not run: the run has stopped, or its flow was cancelled.
  bool is_cancelled(const Task& task) const noexcept {
    return stop_.error() != 0 || task.source()->cancelled.load(std::memory_order_relaxed);
  }
  /// Whether the task must not run: it is unwanted, or reads a value that a failed task did not write.
  bool must_not_run(const Task& task) const {
    return is_cancelled(task) || memory_.poison().is_read_by(task);
  }
  /// Drops a task that will not run, in whatever state: waiting, ready (already given out by the policy), picked or
  /// admitted. Poisons its outputs.
  void drop(Task& task, Commands& out);
  /// As drop(), for a task one of whose copies failed: its `failure` has the error.
  void drop_failed(Task& task, Commands& out);
  /// Completes a ready task that has nothing to do.
  void skip(Task& task, Commands& out);
  /// Completes a task that no worker runs.
  void end(Task& task, Commands& out);
  /// As end(); also poisons the task's outputs.
  void fail(Task& task, Commands& out);
  /// Counts a task that has run; memory has been notified already.
  void count_run(Task& task);

  std::uint64_t done() const noexcept { return done_; }
  /// Completed without running.
  std::uint64_t cancelled() const noexcept { return cancelled_; }
  /// Tasks that had nothing to do; they count neither as done nor as cancelled.
  std::uint64_t skipped() const noexcept { return skipped_; }

 private:
  /// How a task ended, for the digest of commands.
  enum class How : std::uint8_t { cancelled, copy_failed, pseudo, skipped };
  void release_resources(Task& task);
  void complete(Task& task, How how, Commands& out);

  memory::Memory& memory_;
  memory::Effects& effects_;
  FastPathControl& fast_path_;
  Pipelines& pipelines_;
  PolicyInUse& policy_;
  RunRecords& journal_;
  PendingDeliveries& deliveries_;
  const StopReason& stop_;
  Roles& roles_;
  std::uint64_t done_ = 0, cancelled_ = 0, skipped_ = 0;
};

}  // namespace fairlead::engine
