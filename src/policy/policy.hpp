// The interface of scheduling policies. A policy is notified of events, selects the task that runs next, and selects
// the data to evict. It has state, but no threads, locks, clocks or devices; one thread at a time calls it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "policy/policy_options.hpp"
#include "policy/view.hpp"

namespace fairlead {

/// Notifications that cost time; a policy gets those that it requests. ready(), returned() and cancelled() always come.
enum class Notifications : std::uint32_t {
  none = 0,
  submitted = 1,  // submitted(), horizon_closed()
  progress = 2,   // started(), finished()
  residency = 4,  // reserved(), loaded(), dropped()
};
constexpr Notifications operator|(Notifications a, Notifications b) noexcept {
  return static_cast<Notifications>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool includes(Notifications all, Notifications one) noexcept {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

/// Why a node no longer has a replica of a datum.
enum class DropReason : std::uint8_t {
  evicted,             // to make space
  overwritten,         // a newer version exists elsewhere
  failed,              // the copy to the node failed
  prefetch_cancelled,  // a prefetch was cancelled before a task used the datum
};
inline constexpr std::size_t drop_reason_count = 4;

/// Data that can be evicted from a node now, least recently used first.
class EvictionCandidates {
 public:
  virtual ~EvictionCandidates() = default;
  /// The next datum, or no_id at the end.
  virtual DatumId next() = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;

  /// Called once, before all other functions.
  void attach(View& view) {
    view_ = &view;
    attached();
  }

  virtual Notifications interests() const { return Notifications::none; }
  /// The number of unfinished tasks that the policy plans ahead; 0: the runtime's default, which is small and fast.
  virtual std::size_t horizon() const { return 0; }

  /// Whether the policy's order is one queue per worker, oldest first, with stealing. Then the runtime may keep such
  /// queues itself while everything fits into memory (the fast path); the policy is notified only of tasks that need
  /// another order, for instance those with priorities below 0.
  virtual bool uses_local_queues() const { return false; }

  // ---- notifications

  /// All predecessors are finished. `released_by`: the worker that finished the last one; none if the task was ready
  /// when submitted.
  virtual void ready(Task&, WorkerId released_by) = 0;
  /// A picked task was taken back before it started: it is ready again.
  virtual void returned(Task& task) { ready(task, no_id<WorkerId>); }
  /// The task will not run: an input is poisoned, a copy failed, or its flow was cancelled. Called for picked tasks;
  /// with Notifications::submitted, also for tasks that never became ready.
  virtual void cancelled(Task&) {}
  virtual void worker_lost(WorkerId) {}

  virtual void submitted(Task&) {}
  /// The window is full or the flow waits: no more submissions before a task finishes.
  virtual void horizon_closed() {}

  virtual void started(Task&, WorkerId) {}
  virtual void finished(Task&, WorkerId, Duration) {}

  /// Space for the datum is reserved on the node; the datum is arriving or will be written there.
  virtual void reserved(DatumId, NodeId) {}
  virtual void arrived(DatumId, NodeId) {}
  virtual void dropped(DatumId, NodeId, DropReason) {}
  /// The result of a what-if simulation that the policy started: see View::what_if_simulation().
  virtual void simulation_finished(std::uint64_t) {}
  /// The program removed the datum, which no unfinished task uses. Its id may be reused from now on.
  virtual void removed(DatumId) {}

  // ---- decisions

  /// The next task for this worker, or null to decline. The task leaves the policy. `must`: nothing runs and nothing is
  /// in flight; if the policy declines then, take_any() gives out a task.
  virtual Task* pick(WorkerId, bool must) = 0;
  /// Whether the policy also declines with `must`, until simulation_finished() is called. Called only while a what-if simulation
  /// runs, so that this call is certain to come.
  virtual bool awaits_simulation() const { return false; }
  /// Any task that the worker can run, the oldest first. Called only after pick() declined with `must`.
  virtual Task* take_any(WorkerId worker) { return pick(worker, true); }
  /// Selects the datum to evict from the node; must be one of the candidates.
  virtual DatumId victim(NodeId, EvictionCandidates& candidates) { return candidates.next(); }
  /// Selects the candidate to evict for the prefetch of `wanted`, one of upcoming(); none if all candidates are worth
  /// more.
  virtual DatumId prefetch_victim(NodeId, DatumId wanted, EvictionCandidates&) {
    static_cast<void>(wanted);
    return no_id<DatumId>;
  }
  /// The active policy, if this policy switches between several; for reports.
  virtual std::string_view active_policy() const { return {}; }
  /// The data that tasks of this worker will read next, most urgent first; a hint. Returns how many were written.
  virtual std::size_t upcoming(WorkerId, std::span<DatumId>) { return 0; }
  /// Whether pick() declines to fill pipelines. Then upcoming() is called when a worker has one task, not only when its
  /// pipeline is full.
  virtual bool keeps_pipelines_short() const { return false; }

 protected:
  virtual void attached() {}
  View& view() const noexcept { return *view_; }

 private:
  View* view_ = nullptr;
};

/// An entry of the list of policies in schedule/policies.cpp.
struct PolicyEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Policy> (*make)(const PolicyOptions&);
  std::span<const PolicyOption> options{};
};

}  // namespace fairlead
