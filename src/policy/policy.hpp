// What a scheduling policy is: it is told events, and answers which task runs next and which datum leaves.
// A policy has state, but no threads, locks, clocks or devices; it is called by one thread at a time.
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

/// Events that cost something to tell; a policy gets those it names. ready(), returned() and cancelled()
/// always come.
enum class Interest : std::uint32_t {
  none = 0,
  submitted = 1,  // submitted(), horizon_closed()
  progress = 2,   // started(), finished()
  residency = 4,  // reserved(), loaded(), dropped()
};
constexpr Interest operator|(Interest a, Interest b) noexcept {
  return static_cast<Interest>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool includes(Interest all, Interest one) noexcept {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

/// Why a datum is no longer on a node.
enum class DropReason : std::uint8_t {
  evicted,      // to make room
  overwritten,  // a newer version exists elsewhere
  failed,       // the copy that should have brought it failed
  revoked,      // prefetched, and taken back before anybody used it
};
inline constexpr std::size_t drop_reason_count = 4;

/// Data that may leave a node now, least recently used first.
class Candidates {
 public:
  virtual ~Candidates() = default;
  /// The next one, or no_id when there are no more.
  virtual DatumId next() = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;

  /// Called once, before anything else.
  void attach(View& view) {
    view_ = &view;
    attached();
  }

  virtual Interest interests() const { return Interest::none; }
  /// Unfinished tasks that it wants to see ahead; 0 = the runtime's default, which is small and fast.
  virtual std::size_t horizon() const { return 0; }

  /// Its order is that of one queue per worker, oldest first, from which the others steal: the runtime may
  /// then keep such queues itself while everything fits into memory, and tells it only of tasks that it has
  /// to order otherwise (those with priorities, for instance).
  virtual bool keeps_local_queues() const { return false; }

  // ---- events

  /// All predecessors are finished. `released_by`: whose task finished last; none if it was ready when
  /// submitted.
  virtual void ready(Task&, WorkerId released_by) = 0;
  /// Taken back from a pipeline before it started: ready again.
  virtual void returned(Task& task) { ready(task, no_id<WorkerId>); }
  /// Picked, but will not run: an input is poisoned or the flow was cancelled.
  virtual void cancelled(Task&) {}
  virtual void worker_lost(WorkerId) {}

  virtual void submitted(Task&) {}
  /// The window is full or the flow waits: no more submissions before something finishes.
  virtual void horizon_closed() {}

  virtual void started(Task&, WorkerId) {}
  virtual void finished(Task&, WorkerId, Duration) {}

  /// The datum has space on the node, and is arriving or will be written there.
  virtual void reserved(DatumId, NodeId) {}
  virtual void loaded(DatumId, NodeId) {}
  virtual void dropped(DatumId, NodeId, DropReason) {}
  /// What a rehearsal found that the policy began: see View::rehearsal().
  virtual void rehearsed(std::uint64_t) {}
  /// The program removed the datum, which no unfinished task uses: its id may be given to another now.
  virtual void removed(DatumId) {}

  // ---- decisions

  /// The task that this worker should have next, or none. It leaves the policy. With `must` nothing runs and
  /// nothing is in flight anywhere: declining then only means that the oldest ready task is given out by
  /// `take_any`.
  virtual Task* pick(WorkerId, bool must) = 0;
  /// It declines also with `must`, since an event is certain to come before which nobody is to begin: rehearsed(). Asked
  /// only while a rehearsal is under way.
  virtual bool waits() const { return false; }
  /// Any task that the worker can run, the oldest first; asked for only after pick() declined with `must`.
  virtual Task* take_any(WorkerId worker) { return pick(worker, true); }
  /// Which datum leaves the node. Must be one of the candidates.
  virtual DatumId victim(NodeId, Candidates& candidates) { return candidates.next(); }
  /// Which of the candidates leaves so that `wanted`, one of upcoming(), comes ahead of its task; none if
  /// keeping each is worth more. As victim() otherwise.
  virtual DatumId spare(NodeId, DatumId wanted, Candidates&) {
    static_cast<void>(wanted);
    return no_id<DatumId>;
  }
  /// The policy that decides for it at the moment, if it is made of several; for reports.
  virtual std::string_view deputy() const { return {}; }
  /// Data that tasks of this worker will read next, most urgent first; no promise. Returns how many it wrote.
  virtual std::size_t upcoming(WorkerId, std::span<DatumId>) { return 0; }
  /// pick() declines although the worker might be given more tasks ahead: upcoming() is asked once it has one, and not only
  /// when it has as many as it may.
  virtual bool picks_late() const { return false; }

 protected:
  virtual void attached() {}
  View& view() const noexcept { return *view_; }

 private:
  View* view_ = nullptr;
};

/// A policy as the list in schedule/policies.cpp names it.
struct PolicyEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Policy> (*make)(const PolicyOptions&);
  std::span<const PolicyOption> options{};
};

}  // namespace fairlead
