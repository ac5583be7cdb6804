// The engine: told events, it answers with commands. One entrance, one lock held for microseconds; whoever
// holds it serves everybody's events. It never waits, reads a clock, or touches a device or file.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/deliberate_mistake.hpp"
#include "data/task_source.hpp"
#include "engine/callbacks.hpp"
#include "engine/direct_lane.hpp"
#include "engine/event_log.hpp"
#include "engine/inbox.hpp"
#include "engine/pipeline.hpp"
#include "engine/situation.hpp"
#include "engine/spans.hpp"
#include "engine/submission_record.hpp"
#include "memory/memory.hpp"
#include "model/chooser.hpp"
#include "model/duration_model.hpp"
#include "policy/policy.hpp"
#include "trace/recorder.hpp"

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
  /// The task is launched next, on the first of these workers; the others have nothing to do and get nothing
  /// while it runs. Under the engine's lock.
  virtual void gathered(Task&, std::span<const WorkerId>) {}
  /// They do not stand aside any more. Under the engine's lock.
  virtual void dissolved(std::span<const WorkerId>) {}

  virtual void start(memory::Copy&) = 0;
  /// Tasks were handed to the worker: it must be woken if it sleeps.
  virtual void launched(WorkerId) = 0;
  /// The run cannot go on; whoever waits has to look. Any thread.
  virtual void stopped() noexcept = 0;
  /// The worker executes a body at this moment. Any thread.
  virtual bool in_body(WorkerId) const noexcept { return false; }
  /// Events were posted while somebody had the engine's lock who does not serve: a thread that sleeps has to
  /// look at them, unless one that does not will.
  virtual void posted_meanwhile() noexcept {}
  /// Nothing moves any more, which whoever waits wanted to hear of: see Engine::want_quiet.
  virtual void look_again() noexcept {}
  /// There is more in the direct lane than the thread that put it there will run at once.
  virtual void lane_filled() noexcept {}
};

/// What is to be done outside the lock, by the thread that entered.
struct Commands {
  std::vector<memory::Copy*> copies;  ///< to start
  std::vector<Task*>
      completions;  ///< tasks that are over without running; their successors are to be released
  std::vector<WorkerId> launched;
  std::vector<Task*> granted;  ///< holds that have their data
  bool stopped = false;        ///< the run cannot go on: see Engine::stop_error
  bool quiet = false;          ///< nothing moves, and somebody wanted to know

  bool empty() const noexcept {
    return copies.empty() && completions.empty() && launched.empty() && granted.empty() &&
           !(stopped || quiet);
  }
  void clear() noexcept {
    copies.clear();
    completions.clear();
    launched.clear();
    granted.clear();
    stopped = quiet = false;
  }
};

struct Options {
  std::string policy_name;         ///< for reports
  std::size_t pipeline_depth = 0;  ///< 0: chosen from transfer and task times
  std::uint64_t seed = 1;
  std::size_t reporters = 1;  ///< threads that complete tasks
  bool direct_lane = false;   ///< tasks may pass the engine by while all data fit; worlds must know it
  bool log = false;
  Bytes trace_memory = 0;         ///< for records of what happens; 0: nothing is recorded
  bool keep_ids = false;          ///< no datum gets the id of another that is gone
  bool check_invariants = false;  ///< after every served batch; slow
  /// What the model of durations starts with: what earlier runs on this machine found.
  model::KeptDurations durations;
  /// How long a task takes where that is known beforehand (simulation), the same on all workers of one
  /// processor; else it is learned.
  std::function<Duration(const Task&, WorkerId)> estimate;
  DeliberateMistake mistake{};
};

class Engine final : public View {
 public:
  Engine(const Topology& topology, std::unique_ptr<Policy> policy, World& world, Options options);
  ~Engine() override;

  /// Tells what happened. Whoever gets the lock serves all that was told; the others leave at once.
  void post(EventChain& events) noexcept { inbox_.push(events); }
  /// The same for one event that is nobody else's: says what happened, where and when.
  void post(Event& event, EventKind kind, WorkerId worker, Time at) noexcept {
    event.kind = kind;
    event.worker = worker;
    event.at = at;
    EventChain events;
    events.append(event);
    post(events);
  }
  bool something_posted() const noexcept { return !inbox_.empty(); }
  void enter(EventChain& events, Commands& out);
  /// Tells of finished tasks, then calls release(), which appends to `ready` what became ready by them, then
  /// tells that. If the lock is free all of it happens under one hold of it, without the inbox; release()
  /// must be short.
  template <class Release>
  void finish(EventChain& finished, EventChain& ready, Release&& release, Commands& out) {
    if (!lock_.try_lock()) {
      transit_.fetch_add(1);
      post(finished);
      release();  // if it throws, the caller stops the run
      enter(ready, out);
      out.quiet |= arrived(1);
      return;
    }
    serve_inbox(out);  // what this thread has posted before comes first
    serve_chain(finished, out);
    try {
      release();
    } catch (...) {
      fail(out);  // who waits has to look; and the lock is let go
    }
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
    const Guard guard{*this};
    return f(memory_);
  }
  DatumId add(const memory::DatumSpec& spec);
  bool try_remove(DatumId id);
  void advise(DatumId id, int device);
  /// Another policy from now on; before the first task only.
  void replace_policy(std::unique_ptr<Policy> policy, std::string name);
  /// For policies that plan over the graph; told before the task is inserted into it. Else nothing happens.
  void submitted(Task& task);
  void horizon_closed();
  bool wants_submissions() const noexcept { return tell_submissions_; }
  void cancel(TaskSource& source);

  /// From now on whoever waits is to be told (World::look_again) when nothing moves any more. For runs with
  /// holds: tasks may then wait for what the waiting thread itself has to release.
  void want_quiet(bool wanted) noexcept {
    if (wanted) lane_.close();  // what moves in the lane cannot be seen
    quiet_wanted_.store(wanted);
  }
  /// Whether it looked so when events were last served: worth asking quiet().
  bool looks_quiet() const noexcept { return looks_quiet_.load(); }
  /// Nothing runs, moves or is about to: only the end of a hold, or a new task, can change that.
  bool quiet();
  /// Tasks that were over without running have been completed, and what became ready by that was told. True
  /// if somebody has to hear of it.
  bool arrived(std::size_t completions) noexcept {
    transit_.fetch_sub(static_cast<int>(completions));
    return quiet_wanted_.load();
  }
  DirectLane& lane() noexcept { return lane_; }
  const DirectLane& lane() const noexcept { return lane_; }
  /// Whether the lane may ever be open.
  bool lane_possible() const noexcept { return lane_possible_.load(std::memory_order_relaxed); }
  /// Opens the lane if it is closed, nobody is left inside, and all data fit.
  bool try_open_lane();
  /// Where the datum stays while the lane is open; null if it cannot be let in now. `has_value`: it was
  /// written before, or its home has a value.
  void* let_into_lane(DatumId id, bool has_value);
  /// A task of the lane failed; to be called before its successors are released.
  void failed_in_lane(const Task& task);
  void note_duration(const Task& task, WorkerId worker, Duration duration);
  /// A flush was asked for and is not over. Under the lock.
  bool flushing() const noexcept { return flush_after_lane_ || memory_.flushing(); }
  /// The memory node where the application uses what it holds.
  NodeId host() const noexcept { return host_; }
  Callbacks& callbacks() noexcept { return callbacks_; }
  const Callbacks& callbacks() const noexcept { return callbacks_; }
  /// Nothing is served any more, and nothing new begins. Afterwards nobody may wait for anything. Any thread,
  /// without the lock.
  void stop(std::exception_ptr why) noexcept;
  /// What went wrong inside, if anything did.
  std::exception_ptr fatal() {
    return locked([this](memory::Memory&) { return fatal_; });
  }

  DeliberateMistake mistake() const noexcept { return options_.mistake; }
  memory::Memory& memory() noexcept { return memory_; }
  const memory::Memory& memory() const noexcept { return memory_; }
  const Policy& policy() const noexcept { return *policy_; }
  const Options& options() const noexcept { return options_; }
  const std::string& policy_name() const noexcept { return options_.policy_name; }
  const EventLog& log() const noexcept { return log_; }
  /// What stands at the head of its log.
  LogHead log_head() const {
    return {.policy = options_.policy_name,
            .seed = options_.seed,
            .pipeline_depth = options_.pipeline_depth,
            .keep_ids = options_.keep_ids,
            .durations_known = options_.estimate != nullptr,
            .topology = memory_.topology(),
            .durations = options_.durations};
  }
  const CommandDigest& digest() const noexcept { return digest_; }
  /// What happens is written down there; null: nowhere.
  trace::Recorder* recorder() noexcept { return recorder_.get(); }
  std::span<const Pipeline> pipelines() const noexcept { return pipelines_; }
  /// What runs and what waits for what, now. Any thread.
  Situation situation(const Naming& naming) const;
  /// Changes whenever something has happened. Any thread.
  std::uint64_t activity() const;
  std::span<Task* const> holds_granted() const noexcept { return holds_granted_; }
  const Spans& spans() const noexcept { return spans_; }
  /// It runs on several workers where it is now. On accelerators it is a task like others.
  bool spans_workers(const Task& task) const noexcept;
  /// It is launched, and its worker cannot stand aside for another task before it is over or comes back.
  bool occupies_worker(const Task& task) const noexcept;
  /// On how many.
  std::size_t width_for(const Task& task) const noexcept;
  /// Under the lock.
  const model::DurationModel& durations() const noexcept { return model_; }
  std::uint64_t tasks_done() const noexcept { return tasks_done_ + lane_.tasks(); }
  /// Over without having run.
  std::uint64_t tasks_cancelled() const noexcept { return tasks_cancelled_; }
  /// Tasks that were to fold a partial result in which there was nothing; they count as neither.
  std::uint64_t folds_skipped() const noexcept { return folds_skipped_; }
  /// The run cannot go on: throw_if_stopped() of the runtime says why. Any thread.
  bool stopped() const noexcept { return stopped_.load(); }
  int stop_error() const noexcept { return stop_error_.load(); }
  DatumId stop_datum() const noexcept { return stop_datum_; }
  /// What the world said about it; null: nothing more.
  std::exception_ptr stop_failure() const noexcept { return stop_failure_; }
  /// Nothing runs, is staged, on its way or waits: for tests.
  bool idle() const noexcept {
    return held_by_policy_ == 0 && in_pipelines_ == 0 && memory_.copies_in_flight() == 0 &&
           !lane_.something_queued() && holds_waiting_.empty() && holds_arriving_.empty() &&
           holds_granted_.empty();
  }

  // View
  std::span<const WorkerInfo> workers() const override { return workers_; }
  std::span<const NodeInfo> nodes() const override { return nodes_with_workers_; }
  /// All bounded memories, also those that copies only pass.
  std::span<const NodeInfo> caches() const { return node_infos_; }
  Time now() const override { return now_; }
  Random& random() override { return random_; }
  bool can_run(const Task& task, WorkerId worker) const override;
  Duration estimate(const Task& task, WorkerId worker) const override;
  bool known(const Task& task, WorkerId worker) const override;
  Bytes bytes(DatumId id) const override { return memory_.datum(id).bytes; }
  ReplicaState residency(DatumId id, NodeId node) const override { return memory_.residency(id, node); }
  bool has_newest(DatumId id, NodeId node) const override { return memory_.has_newest(id, node); }
  Duration transfer_time(DatumId id, NodeId node) const override;
  Duration transfer_time(Bytes bytes, NodeId from, NodeId to) const override;
  std::uint32_t distance(WorkerId a, WorkerId b) const override;
  void pipeline(NodeId node, std::vector<const Task*>& out) const override;
  void successors(const Task& task, std::vector<Task*>& out) const override;
  std::uint32_t remaining_writers(DatumId id) const override;
  Coordinates coordinates(DatumId id) const override { return memory_.datum(id).coordinates; }
  Extent extent(std::int32_t collection) const override { return memory_.extent(collection); }
  int advice(DatumId id) const override { return memory_.datum(id).advice; }

 private:
  /// Has the lock, and serves nobody. Who has posted meanwhile has left when he did not get it; if nobody
  /// else looks into the inbox, somebody has to be woken.
  struct Guard {
    const Engine& engine;
    explicit Guard(const Engine& e) : engine(e) { engine.lock_.lock(); }
    ~Guard() {
      engine.lock_.unlock();
      if (engine.something_posted()) engine.world_.posted_meanwhile();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
  };
  struct alignas(64) Applied {
    std::atomic<std::uint64_t> count{0};
  };

  /// Changes something for the program under the lock. If that fails half-way, what is known is no longer
  /// consistent: then the run is stopped, besides what the caller is told. Throws what stopped it before.
  template <class F>
  auto change(F&& f) {
    const Guard guard{*this};
    if (fatal_ != nullptr) [[unlikely]]
      std::rethrow_exception(fatal_);
    try {
      return f();
    } catch (...) {
      note_fatal(std::current_exception());
      throw;
    }
  }
  void note_fatal(std::exception_ptr why) noexcept;
  void serve(Commands& out);
  void serve_inbox(Commands& out) { apply_all(inbox_.drain(), out); }
  void serve_chain(EventChain& events, Commands& out) { apply_all(events.take_in_order(), out); }
  void apply_all(Event* events, Commands& out);
  void log_event(const Event& event);
  void log_durations(const Task& task);
  void after_events(Commands& out);
  void fail(Commands& out) noexcept;
  void apply(Event& event, Commands& out);
  void apply_ready(Task& task, Commands& out);
  void apply_over(Task& task, bool succeeded);
  void apply_returned(Task& task);
  void follow_effects(Commands& out);
  void cancel_task(Task& task, Commands& out);
  void skip_fold(Task& task, Commands& out);
  void complete(Task& task, Commands& out, std::uint64_t how);
  void hold_ready(Task& hold, Commands& out);
  void view_switched(Task& hold, Commands& out);
  void hold_landed(Task& hold, Commands& out);
  void hold_failed(Task& hold, Commands& out);
  void hold_released(HoldRelease& release, Commands& out);
  void end_hold(Task& hold, Commands& out);
  bool admit_holds(Commands& out);
  bool nothing_moves() const noexcept;
  bool lane_is_possible() const noexcept;
  bool follow_lane();
  void flush_or_drop(EventKind kind);
  void give_work(Commands& out);
  void hand_out(Commands& out);
  bool give_one(WorkerId worker, Commands& out);
  void take_from_policy(Task& task, WorkerId worker, Commands& out);
  bool try_admit(WorkerId worker, Commands& out);
  void stage(Task& task, Commands& out);
  void launch(Task& task, Commands& out);
  void recall(Task& task);
  bool has_choice(const Task& task, WorkerId worker) const noexcept {
    return task.codelet->choices != 0 && task.codelet->has_choice(workers_[index(worker)].kind);
  }
  void learn(const Task& task, bool succeeded);
  model::Estimate estimate_there(const Task& task, WorkerId worker) const;
  bool asynchronous(const Task& task) const noexcept;
  std::vector<WorkerId> free_workers(const Task& task) const;
  bool put_off(Task& task);
  bool move_away(Task& task);
  void change_worker(Task& task, WorkerId worker);
  bool advance_spans(Commands& out);
  bool cancel_waiting_spans(Commands& out);
  bool begin_gathering();
  bool gathered();
  void dissolve(const Span& span);
  void span_over(Task& task, bool ran);
  void launch_put_off(Commands& out);
  void share_unadmitted(Commands& out);
  void share_staged();
  bool insist(Commands& out);
  bool everything_waits_for_memory() const noexcept;
  /// Who was refused memory has to be asked again.
  bool somebody_may_fit() const noexcept {
    return memory_.changed() && (unadmitted_ != 0 || !holds_waiting_.empty());
  }
  void prefetch_upcoming(Commands& out);
  void adapt_depth();
  void tell_started(WorkerId worker);
  void record_copy(const memory::Copy& copy);
  void record_memory();
  model::Footprint footprint(const Task& task) const;
  bool must_cancel(const Task& task) const noexcept {
    return stop_error_ != 0 || task.source->cancelled.load(std::memory_order_relaxed);
  }
  std::size_t depth() const noexcept { return depth_; }

  mutable EngineLock lock_;
  Inbox inbox_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> quiet_wanted_{false}, looks_quiet_{false};
  /// Completions on their way: threads that have told of ends and not yet of what became ready by them.
  alignas(64) std::atomic<int> transit_{0};
  Callbacks callbacks_;
  DirectLane lane_;
  // All below is guarded by the lock.
  std::unique_ptr<Policy> policy_;
  World& world_;
  Options options_;
  memory::Memory memory_;
  model::DurationModel model_;
  model::Chooser chooser_{model_};
  std::vector<model::Processor> processors_;  // by WorkerId
  EventLog log_;
  std::vector<std::size_t> log_processors_;  // EventLog::processors_of the machine, if there is a log
  CommandDigest digest_;
  const std::unique_ptr<trace::Recorder> recorder_;  // its rings of tasks belong to the threads that end them
  Random random_;
  Time now_{};
  std::vector<WorkerInfo> workers_;
  std::vector<NodeInfo> node_infos_, nodes_with_workers_;
  std::vector<Pipeline> pipelines_;  // by WorkerId
  std::vector<Applied> applied_;     // by reporter
  SubmissionRecord record_;
  bool tell_progress_, tell_submissions_;
  std::atomic<bool> lane_possible_{false};  // changes before the first task only
  bool lane_pinned_ = false;                // it was opened, and data stay for it
  bool flush_after_lane_ = false, drop_after_lane_ = false;
  Bytes lane_too_full_at_ = ~Bytes{0};  // of registered data, when there was no room beside them
  std::exception_ptr fatal_;
  std::size_t held_by_policy_ = 0;  // ready tasks
  std::size_t in_pipelines_ = 0;
  std::size_t unadmitted_ = 0;  // of these, waiting for memory
  bool left_behind_ = false;    // a worker that is not there may have a staged task
  std::size_t awaited_ = 0;     // workers of accelerators that have not arrived so far: they are starting
  Spans spans_;
  std::vector<Task*> holds_waiting_;  // for memory; oldest first
  std::vector<Task*> holds_arriving_, holds_granted_;
  NodeId host_ = no_id<NodeId>;
  std::uint64_t tasks_done_ = 0, tasks_cancelled_ = 0, folds_skipped_ = 0;
  std::atomic<int> stop_error_{0};  // not 0: the two below do not change any more
  DatumId stop_datum_ = no_id<DatumId>;
  std::exception_ptr stop_failure_;
  // For the depth of pipelines: sums since it was last adapted.
  std::size_t depth_ = 8;
  std::int64_t recent_tasks_ = 0, recent_copies_ = 0;
  Duration recent_task_time_{}, recent_copy_time_{};
  std::size_t starved_ = 0;
};

}  // namespace fairlead::engine
