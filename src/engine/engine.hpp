// The engine: receives events and answers with commands. Events enter in one place, under one lock that is held for
// microseconds; the thread that holds it serves the events of all threads. The engine never waits, reads a clock, or
// touches a device or file. This class combines its parts, which have a file each.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "data/task_source.hpp"
#include "engine/backlog.hpp"
#include "engine/callbacks.hpp"
#include "engine/dispatcher.hpp"
#include "engine/event_queue.hpp"
#include "engine/log_head.hpp"
#include "engine/pause.hpp"
#include "engine/status_report.hpp"

namespace fairlead::engine {

class Engine final : private Server {
 public:
  Engine(const Topology& topology, std::unique_ptr<Policy> policy, World& world, Options options);

  // ---- parts

  EventQueue& entrance() noexcept { return entrance_; }
  const EventQueue& entrance() const noexcept { return entrance_; }
  const EngineView& view() const noexcept { return view_; }
  memory::Memory& memory() noexcept { return memory_; }
  const memory::Memory& memory() const noexcept { return memory_; }
  FastPath& fast_path() noexcept { return fast_path_.path(); }
  const FastPath& fast_path() const noexcept { return fast_path_.path(); }
  const RunRecords& journal() const noexcept { return journal_; }
  const Pipelines& pipelines() const noexcept { return pipelines_; }
  const Completions& endings() const noexcept { return endings_; }
  const PseudoTasks& pseudo_tasks() const noexcept { return pseudo_tasks_; }
  Roles& roles() noexcept { return roles_; }
  const SpanScheduler& gathering() const noexcept { return gathering_; }
  const StopReason& stop_reason() const noexcept { return stop_; }
  /// Under the lock.
  const model::DurationModel& durations() const noexcept { return durations_.model(); }
  Backlog& backlog() noexcept { return backlog_; }
  /// Whether a thread without work should ask the sources: they have tasks, and the policy holds few. Any thread.
  bool needs_more_tasks() const noexcept { return backlog_.any() && hungry_.load(); }
  Callbacks& callbacks() noexcept { return callbacks_; }
  const Callbacks& callbacks() const noexcept { return callbacks_; }
  const Policy& policy() const noexcept { return *policy_; }
  const Options& options() const noexcept { return options_; }

  // ---- for the program; each function takes the lock

  /// Calls f(Memory&).
  template <class F>
  auto locked(F&& f) {
    const EventQueue::Guard guard{entrance_};
    return f(memory_);
  }
  DatumId add(const memory::DatumSpec& spec);
  bool try_remove(DatumId id);
  void advise(DatumId id, int device);
  /// Excludes the datum from the refresh of program memory before waits, or includes it again.
  void put_refresh_off(DatumId id, bool put_off);
  /// Replaces the policy; before the first task only.
  void replace_policy(std::unique_ptr<Policy> policy, std::string name);
  /// Called before the task is inserted into the graph; does nothing unless wants_submissions().
  void submitted(Task& task);
  void horizon_closed();
  /// No task will be submitted before a submitted one finishes.
  void all_submitted();
  bool policy_plans() const noexcept { return policy_.wants_submissions(); }
  /// Whether submissions must be reported: the policy plans, or final values go home early.
  bool wants_submissions() const noexcept { return policy_plans() || memory_.flushes().early().possible(); }
  /// Cancels a source's tasks; does nothing if the run was stopped. Cannot throw, as it may be called on another rank's
  /// failure: an error stops the run.
  void cancel(TaskSource& source) noexcept;
  /// Stops the run: no event is served and no task starts any more. Afterwards no thread may wait. Any thread, without
  /// the lock.
  void stop(std::exception_ptr why) noexcept;
  /// The internal error that stopped the run; null if none.
  std::exception_ptr fatal() {
    return locked([this](memory::Memory&) { return stop_.fatal(); });
  }

  // ---- fast path

  /// Whether the fast path may ever be open.
  bool fast_path_possible() const noexcept { return fast_path_.possible(); }
  /// Opens the fast path if it is closed, no worker is inside, and all data fit.
  bool try_open_fast_path();
  /// The datum's address for tasks of the fast path, valid while it is open; null if the datum cannot be admitted now.
  /// See FastPathControl::admit().
  void* admit_to_fast_path(DatumId id, bool has_value);
  /// A task of the fast path failed. Must be called before its successors are released.
  void failed_in_fast_path(const Task& task);
  void note_duration(const Task& task, WorkerId worker, Duration duration);

  // ---- quiescence

  /// Enables notification of quiescence: the application is woken (WakeTarget::application) when no progress is possible. For
  /// waits of a thread with holds, for which tasks may wait.
  void notify_quiescence(bool wanted) noexcept {
    if (wanted) fast_path_.close();  // activity in the fast path is not visible to the engine
    deliveries_.request_quiescence(wanted);
  }
  /// Whether the run looked quiescent when events were last served; then is_quiescent() is worth calling.
  bool looks_quiescent() const noexcept { return looks_quiet_.load(); }
  /// Whether nothing runs, is in flight or is about to start: only the release of a hold or a new task can change that.
  bool is_quiescent();
  /// Completions of tasks that did not run, or granted holds, were passed on. Returns true if a thread must be
  /// notified.
  bool deliveries_done(std::size_t completions) noexcept { return deliveries_.end(completions); }
  /// Whether a requested pause is complete: no body runs, and every finished task has been passed on.
  bool is_paused();
  /// Whether a requested flush is unfinished. Under the lock.
  bool flushing() const noexcept { return fast_path_.flush_waits() || memory_.flushes().under_way(); }
  /// Whether no task runs, is staged or waits, and no copy is in flight. For tests.
  bool idle() const noexcept {
    return dispatcher_.held_by_policy() == 0 && pipelines_.tasks() == 0 &&
           memory_.transfers().in_flight() == 0 && !fast_path_.path().has_queued() && pseudo_tasks_.none();
  }

  // ---- reports

  std::uint64_t tasks_done() const noexcept { return endings_.done() + fast_path_.path().tasks(); }
  /// The head of the engine's log.
  LogHead log_head() const;
  /// The running tasks, and what each waiting task waits for. Any thread.
  StatusReport situation(const Naming& naming) const;
  /// A number that changes whenever something has happened. Any thread.
  std::uint64_t activity() const;

 private:
  /// Changes the state for the program, under the lock. An exception half-way leaves it inconsistent: the run is
  /// stopped, and the caller gets the exception. Rethrows an earlier fatal error.
  template <class F>
  auto change(F&& f) {
    const EventQueue::Guard guard{entrance_};
    if (stop_.fatal() != nullptr) [[unlikely]]
      std::rethrow_exception(stop_.fatal());
    try {
      return f();
    } catch (...) {
      note_fatal(std::current_exception());
      throw;
    }
  }
  void note_fatal(std::exception_ptr why) noexcept;
  void serve(Event* events, Commands& out) noexcept override;
  void follow(Commands& out) noexcept override;
  void fail(std::exception_ptr why, Commands& out) noexcept override;
  void apply(Event& event, Commands& out);
  void apply_copy(memory::Copy& copy);
  void apply_release(HoldRelease& release, Commands& out);
  void lose(const NodeLoss& loss, Commands& out);
  bool is_idle() const noexcept;
  bool fast_path_is_possible() const noexcept;

  // In order of construction dependencies. Guarded by the lock, except what any thread may read.
  World& world_;
  Options options_;
  StopReason stop_;
  PendingDeliveries deliveries_;
  std::atomic<bool> looks_quiet_{false};
  std::atomic<bool> hungry_{true};  // the policy holds few tasks
  Backlog backlog_;
  Callbacks callbacks_;
  PolicyInUse policy_;
  memory::Memory memory_;
  memory::Effects effects_;  // of calls to memory; processed by Dispatcher::follow()
  TaskDurations durations_;
  Pipelines pipelines_;
  PipelineDepth depth_;
  EngineView view_;
  FastPathControl fast_path_;
  RunRecords journal_;
  Completions endings_;
  PseudoTasks pseudo_tasks_;
  Roles roles_;
  Launcher launcher_;
  SpanScheduler gathering_;
  Pause pause_;
  Dispatcher dispatcher_;
  EventQueue entrance_;
  // policies reach it through the view; it posts events at the entrance
  std::unique_ptr<WhatIfSimulation> what_if_;
};

}  // namespace fairlead::engine
