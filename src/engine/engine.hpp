// The engine: told events, it answers with commands. One entrance, one lock held for microseconds; whoever
// holds it serves everybody's events. It never waits, reads a clock, or touches a device or file. This file
// puts its parts together; each has a file of its own.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "data/task_source.hpp"
#include "engine/backlog.hpp"
#include "engine/callbacks.hpp"
#include "engine/dispatcher.hpp"
#include "engine/entrance.hpp"
#include "engine/log_head.hpp"
#include "engine/situation.hpp"

namespace fairlead::engine {

class Engine final : private Server {
 public:
  Engine(const Topology& topology, std::unique_ptr<Policy> policy, World& world, Options options);

  // ---- its parts

  Entrance& entrance() noexcept { return entrance_; }
  const Entrance& entrance() const noexcept { return entrance_; }
  const EngineView& view() const noexcept { return view_; }
  memory::Memory& memory() noexcept { return memory_; }
  const memory::Memory& memory() const noexcept { return memory_; }
  DirectLane& lane() noexcept { return lane_.lane(); }
  const DirectLane& lane() const noexcept { return lane_.lane(); }
  const Journal& journal() const noexcept { return journal_; }
  const Pipelines& pipelines() const noexcept { return pipelines_; }
  const Endings& endings() const noexcept { return endings_; }
  const PseudoTasks& pseudo_tasks() const noexcept { return pseudo_tasks_; }
  Roles& roles() noexcept { return roles_; }
  const Gathering& gathering() const noexcept { return gathering_; }
  const Stop& stop_reason() const noexcept { return stop_; }
  /// Under the lock.
  const model::DurationModel& durations() const noexcept { return durations_.model(); }
  Backlog& backlog() noexcept { return backlog_; }
  /// A thread that has run out of work should ask the sources that have more: the policy is not full of what
  /// they have handed out. Any thread.
  bool wants_more() const noexcept { return backlog_.any() && hungry_.load(); }
  Callbacks& callbacks() noexcept { return callbacks_; }
  const Callbacks& callbacks() const noexcept { return callbacks_; }
  const Policy& policy() const noexcept { return *policy_; }
  const Options& options() const noexcept { return options_; }

  // ---- for the program; each takes the lock

  /// Calls f(Memory&).
  template <class F>
  auto locked(F&& f) {
    const Entrance::Guard guard{entrance_};
    return f(memory_);
  }
  DatumId add(const memory::DatumSpec& spec);
  bool try_remove(DatumId id);
  void advise(DatumId id, int device);
  /// Whether the datum is left out of what goes home because the program waits, or is going to.
  void put_refresh_off(DatumId id, bool put_off);
  /// Another policy from now on; before the first task only.
  void replace_policy(std::unique_ptr<Policy> policy, std::string name);
  /// Told before the task is inserted into the graph; nothing happens unless wants_submissions().
  void submitted(Task& task);
  void horizon_closed();
  /// Nobody is going to submit more before something is over that has been submitted.
  void all_submitted();
  bool policy_plans() const noexcept { return policy_.wants_submissions(); }
  /// The policy plans, or what nobody changes any more goes home early.
  bool wants_submissions() const noexcept { return policy_plans() || memory_.flushes().early().possible(); }
  /// Nothing if the run was stopped: nothing new begins then. Also by who tells of another rank's failure, and can be told
  /// nothing: what cannot be noted stops the run.
  void cancel(TaskSource& source) noexcept;
  /// Nothing is served any more, and nothing new begins. Afterwards nobody may wait for anything. Any thread,
  /// without the lock.
  void stop(std::exception_ptr why) noexcept;
  /// What went wrong inside, if anything did.
  std::exception_ptr fatal() {
    return locked([this](memory::Memory&) { return stop_.fatal(); });
  }

  // ---- the direct lane

  /// Whether it may ever be open.
  bool lane_possible() const noexcept { return lane_.possible(); }
  /// Opens it if it is closed, nobody is left inside, and all data fit.
  bool try_open_lane();
  /// See LaneGate::let_in(): as an address, which stays good while the lane is open. Null: not now.
  void* let_into_lane(DatumId id, bool has_value);
  /// A task of the lane failed; to be called before its successors are released.
  void failed_in_lane(const Task& task);
  void note_duration(const Task& task, WorkerId worker, Duration duration);

  // ---- whether anything moves

  /// From now on whoever waits is to be told (Who::application) when nothing moves any more. For runs with
  /// holds: tasks may then wait for what the waiting thread itself has to release.
  void want_quiet(bool wanted) noexcept {
    if (wanted) lane_.close();  // what moves in the lane cannot be seen
    deliveries_.want_quiet(wanted);
  }
  /// Whether it looked so when events were last served: worth asking quiet().
  bool looks_quiet() const noexcept { return looks_quiet_.load(); }
  /// Nothing runs, moves or is about to: only the end of a hold, or a new task, can change that.
  bool quiet();
  /// Tasks that were over without running have been completed, and what became ready by that was told. True
  /// if somebody has to hear of it.
  bool arrived(std::size_t completions) noexcept { return deliveries_.end(completions); }
  /// A flush was asked for and is not over. Under the lock.
  bool flushing() const noexcept { return lane_.flush_waits() || memory_.flushes().under_way(); }
  /// Nothing runs, is staged, on its way or waits: for tests.
  bool idle() const noexcept {
    return dispatcher_.held_by_policy() == 0 && pipelines_.tasks() == 0 &&
           memory_.transfers().in_flight() == 0 && !lane_.lane().something_queued() && pseudo_tasks_.none();
  }

  // ---- for reports

  std::uint64_t tasks_done() const noexcept { return endings_.done() + lane_.lane().tasks(); }
  /// What stands at the head of its log.
  LogHead log_head() const;
  /// What runs and what waits for what, now. Any thread.
  Situation situation(const Naming& naming) const;
  /// Changes whenever something has happened. Any thread.
  std::uint64_t activity() const;

 private:
  /// Changes something for the program under the lock. If that fails half-way, what is known is no longer
  /// consistent: then the run is stopped, besides what the caller is told. Throws what stopped it before.
  template <class F>
  auto change(F&& f) {
    const Entrance::Guard guard{entrance_};
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
  bool nothing_moves() const noexcept;
  bool lane_is_possible() const noexcept;

  // In the order in which they need each other. Guarded by the lock, but for what can be asked by any thread.
  World& world_;
  Options options_;
  Stop stop_;
  Deliveries deliveries_;
  std::atomic<bool> looks_quiet_{false};
  std::atomic<bool> hungry_{true};  // the policy holds few tasks
  Backlog backlog_;
  Callbacks callbacks_;
  PolicyInUse policy_;
  memory::Memory memory_;
  memory::Effects effects_;  // of what memory was told; Dispatcher::follow() goes on with it
  TaskDurations durations_;
  Pipelines pipelines_;
  PipelineDepth depth_;
  EngineView view_;
  LaneGate lane_;
  Journal journal_;
  Endings endings_;
  PseudoTasks pseudo_tasks_;
  Roles roles_;
  Launcher launcher_;
  Gathering gathering_;
  Dispatcher dispatcher_;
  Entrance entrance_;
  std::unique_ptr<Rehearsal> rehearsal_;  // the view shows it to policies; posts at the entrance
};

}  // namespace fairlead::engine
