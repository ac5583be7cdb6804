// The engine: told events, it answers with commands. One entrance, one lock held for microseconds; whoever
// holds it serves everybody's events. It never waits, reads a clock, or touches a device or file.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/task_source.hpp"
#include "engine/event_log.hpp"
#include "engine/inbox.hpp"
#include "engine/pipeline.hpp"
#include "engine/submission_record.hpp"
#include "memory/memory.hpp"
#include "model/duration_model.hpp"
#include "policy/policy.hpp"

namespace fairlead::engine {

/// A backend: what the engine's commands do. The first two are called under the engine's lock and only hand
/// tasks over; the others by whoever entered, after it let go of the lock.
class World {
 public:
  virtual ~World() = default;
  /// The task is the worker's; it runs after those handed over before.
  virtual void launch(WorkerId, Task&) = 0;
  /// Takes a staged task back if it has not started: then posts `task_returned`, else `recall_refused`.
  virtual void recall(WorkerId, Task&) = 0;

  virtual void start(memory::Copy&) = 0;
  /// Tasks were handed to the worker: it must be woken if it sleeps.
  virtual void launched(WorkerId) = 0;
  /// The run cannot go on; whoever waits has to look.
  virtual void stopped() = 0;
};

/// What is to be done outside the lock, by the thread that entered.
struct Commands {
  std::vector<memory::Copy*> copies;  ///< to start
  std::vector<Task*>
      completions;  ///< tasks that are over without running; their successors are to be released
  std::vector<WorkerId> launched;
  bool stopped = false;  ///< the run cannot go on: see Engine::stop_error

  bool empty() const noexcept {
    return copies.empty() && completions.empty() && launched.empty() && !stopped;
  }
  void clear() noexcept {
    copies.clear();
    completions.clear();
    launched.clear();
    stopped = false;
  }
};

struct Options {
  std::string policy_name;         ///< for reports
  std::size_t pipeline_depth = 0;  ///< 0: chosen from transfer and task times
  std::uint64_t seed = 1;
  std::size_t reporters = 1;  ///< threads that complete tasks
  bool log = false;
  bool check_invariants = false;  ///< after every served batch; slow
  /// How long a task takes where that is known beforehand (simulation); else it is learned.
  std::function<Duration(const Task&, WorkerId)> estimate;
  memory::PlantedBug bug = memory::PlantedBug::none;
};

class Engine final : public View {
 public:
  Engine(const Topology& topology, std::unique_ptr<Policy> policy, World& world, Options options);
  ~Engine() override;

  /// Tells what happened. Whoever gets the lock serves all that was told; the others leave at once.
  void post(EventChain& events) noexcept { inbox_.push(events); }
  bool something_posted() const noexcept { return !inbox_.empty(); }
  void enter(EventChain& events, Commands& out);
  /// Tells of finished tasks, then calls release(), which appends to `ready` what became ready by them, then
  /// tells that. If the lock is free all of it happens under one hold of it, without the inbox; release()
  /// must be short.
  template <class Release>
  void finish(EventChain& finished, EventChain& ready, Release&& release, Commands& out) {
    if (!lock_.try_lock()) {
      post(finished);
      release();
      enter(ready, out);
      return;
    }
    serve_inbox(out);  // what this thread has posted before comes first
    serve_chain(finished, out);
    release();
    // Whoever told of another input of what is ready now may have left that in the inbox: it comes first.
    serve_inbox(out);
    serve_chain(ready, out);
    after_events(out);
    lock_.unlock();
    enter(ready, out);
  }
  /// As enter(), but waits for the lock: afterwards the events have been served.
  void enter_surely(EventChain& events, Commands& out);

  /// How many of its finished tasks the reporter may forget.
  std::uint64_t applied(std::uint16_t reporter) const noexcept {
    return applied_[reporter].count.load(std::memory_order_acquire);
  }
  /// Calls f(Memory&) under the lock.
  template <class F>
  auto locked(F&& f) {
    const Guard guard{lock_};
    return f(memory_);
  }
  DatumId add(const memory::DatumSpec& spec);
  bool try_remove(DatumId id);
  /// Another policy from now on; before the first task only.
  void replace_policy(std::unique_ptr<Policy> policy, std::string name);
  /// For policies that plan over the graph; told before the task is inserted into it. Else nothing happens.
  void submitted(Task& task);
  void horizon_closed();
  bool wants_submissions() const noexcept { return tell_submissions_; }
  void cancel(TaskSource& source);
  /// Nothing is served any more. Afterwards nobody may wait for anything.
  void stop(std::exception_ptr why);
  /// What went wrong inside, if anything did.
  std::exception_ptr fatal() {
    return locked([this](memory::Memory&) { return fatal_; });
  }

  memory::PlantedBug planted_bug() const noexcept { return options_.bug; }
  memory::Memory& memory() noexcept { return memory_; }
  const memory::Memory& memory() const noexcept { return memory_; }
  const Policy& policy() const noexcept { return *policy_; }
  const Options& options() const noexcept { return options_; }
  const std::string& policy_name() const noexcept { return options_.policy_name; }
  const EventLog& log() const noexcept { return log_; }
  /// What stands at the head of its log.
  LogHead log_head() const {
    return {options_.policy_name, options_.seed, options_.pipeline_depth, memory_.topology()};
  }
  const CommandDigest& digest() const noexcept { return digest_; }
  std::span<const Pipeline> pipelines() const noexcept { return pipelines_; }
  std::uint64_t tasks_done() const noexcept { return tasks_done_; }
  /// Over without having run.
  std::uint64_t tasks_cancelled() const noexcept { return tasks_cancelled_; }
  /// The run cannot go on: throw_if_stopped() of the runtime says why. Any thread.
  bool stopped() const noexcept { return stopped_.load(); }
  int stop_error() const noexcept { return stop_error_.load(); }
  DatumId stop_datum() const noexcept { return stop_datum_; }
  /// Nothing runs, is staged, on its way or waits: for tests.
  bool idle() const noexcept {
    return held_by_policy_ == 0 && in_pipelines_ == 0 && memory_.copies_in_flight() == 0;
  }

  // View
  std::span<const WorkerInfo> workers() const override { return workers_; }
  std::span<const NodeInfo> nodes() const override { return node_infos_; }
  Time now() const override { return now_; }
  Random& random() override { return random_; }
  bool can_run(const Task& task, WorkerId worker) const override;
  Duration estimate(const Task& task, WorkerId worker) const override;
  Bytes bytes(DatumId id) const override { return memory_.datum(id).bytes; }
  ReplicaState residency(DatumId id, NodeId node) const override { return memory_.residency(id, node); }
  Duration transfer_time(DatumId id, NodeId node) const override;
  void pipeline(NodeId node, std::vector<const Task*>& out) const override;
  void successors(const Task& task, std::vector<Task*>& out) const override;
  std::uint32_t remaining_writers(DatumId id) const override;
  Coordinates coordinates(DatumId id) const override { return memory_.datum(id).coordinates; }

 private:
  struct Guard {
    EngineLock& lock;
    explicit Guard(EngineLock& l) : lock(l) { lock.lock(); }
    ~Guard() { lock.unlock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
  };
  struct alignas(64) Applied {
    std::atomic<std::uint64_t> count{0};
  };

  void serve(Commands& out);
  void serve_inbox(Commands& out) { apply_all(inbox_.drain(), out); }
  void serve_chain(EventChain& events, Commands& out) { apply_all(events.take_in_order(), out); }
  void apply_all(Event* events, Commands& out);
  void after_events(Commands& out);
  void fail(Commands& out);
  void apply(Event& event, Commands& out);
  void apply_ready(Task& task, Commands& out);
  void apply_over(Task& task, bool succeeded);
  void apply_returned(Task& task, Commands& out);
  void follow_effects(Commands& out);
  void cancel_task(Task& task, Commands& out);
  void give_work(Commands& out);
  bool give_one(WorkerId worker, Commands& out);
  bool try_admit(WorkerId worker, Commands& out);
  void stage(Task& task, Commands& out);
  void share_unadmitted(Commands& out);
  void share_staged();
  void insist(Commands& out);
  void prefetch_upcoming(Commands& out);
  void adapt_depth();
  void tell_started(WorkerId worker);
  bool must_cancel(const Task& task) const noexcept { return stop_error_ != 0 || task.source->cancelled; }
  std::size_t depth() const noexcept { return depth_; }

  EngineLock lock_;
  Inbox inbox_;
  std::atomic<bool> stopped_{false};
  // All below is guarded by the lock.
  std::unique_ptr<Policy> policy_;
  World& world_;
  Options options_;
  memory::Memory memory_;
  model::DurationModel model_;
  EventLog log_;
  CommandDigest digest_;
  Random random_;
  Time now_{};
  std::vector<WorkerInfo> workers_;
  std::vector<NodeInfo> node_infos_;
  std::vector<Pipeline> pipelines_;  // by WorkerId
  std::vector<Applied> applied_;     // by reporter
  SubmissionRecord record_;
  bool tell_progress_, tell_submissions_;
  std::exception_ptr fatal_;
  std::size_t held_by_policy_ = 0;  // ready tasks
  std::size_t in_pipelines_ = 0;
  std::size_t unadmitted_ = 0;  // of these, waiting for memory
  std::uint64_t tasks_done_ = 0, tasks_cancelled_ = 0;
  std::atomic<int> stop_error_{0};
  DatumId stop_datum_ = no_id<DatumId>;
  // For the depth of pipelines: sums since it was last adapted.
  std::size_t depth_ = 8;
  std::int64_t recent_tasks_ = 0, recent_copies_ = 0;
  Duration recent_task_time_{}, recent_copy_time_{};
  std::size_t starved_ = 0;
};

}  // namespace fairlead::engine
