// What the engine does with each event, and how it gives workers their tasks.
#include "engine/engine.hpp"

#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"

namespace fairlead::engine {

namespace {
constexpr Duration short_task{5'000};  // below this, handing over costs more than a long pipeline harms
constexpr Duration tiny_task{1'000};   // below this, it costs more than the task
constexpr std::size_t tiny_task_depth = 24, short_task_depth = 8, smallest_depth = 4, largest_depth = 16;
constexpr std::size_t unadmitted_allowed = 4;
constexpr std::size_t prefetched_together = 4;
constexpr std::int64_t adapt_every = 32;  // tasks
}  // namespace

Engine::Engine(const Topology& topology, std::unique_ptr<Policy> policy, World& world, Options options)
    : lane_(topology.workers.size()),
      policy_(std::move(policy)),
      world_(world),
      options_(std::move(options)),
      memory_(topology, *policy_),
      recorder_(options_.trace_memory == 0
                    ? nullptr
                    : std::make_unique<trace::Recorder>(options_.trace_memory, options_.reporters)),
      random_(options_.seed),
      pipelines_(topology.workers.size()),
      applied_(options_.reporters),
      tell_progress_(includes(policy_->interests(), Interest::progress)),
      tell_submissions_(includes(policy_->interests(), Interest::submitted)) {
  memory_.make(options_.mistake);
  if (options_.keep_ids) memory_.keep_ids();
  log_.enabled = options_.log;
  if (options_.log) log_processors_ = EventLog::processors_of(topology);
  model_.start_with(options_.durations);
  for (const WorkerSpec& worker : topology.workers) processors_.emplace_back(worker.kind, worker.processor);
  for (std::size_t i = 0; i < topology.workers.size(); ++i)
    workers_.push_back({static_cast<WorkerId>(i), topology.workers[i].kind, topology.workers[i].node});
  for (const WorkerInfo& worker : workers_) awaited_ += worker.kind != WorkerKind::cpu;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i)
    if (topology.nodes[i].role == NodeRole::cache)
      node_infos_.push_back({static_cast<NodeId>(i), topology.nodes[i].capacity});
  for (const NodeInfo& node : node_infos_)
    if (std::ranges::find(workers_, node.id, &WorkerInfo::node) != workers_.end())
      nodes_with_workers_.push_back(node);
  for (const NodeInfo& node : node_infos_)  // the program's own threads are where user memory is
    if (host_ == no_id<NodeId> && !topology.nodes[index(node.id)].reaches.empty()) host_ = node.id;
  if (host_ == no_id<NodeId> && !node_infos_.empty()) host_ = node_infos_.front().id;
  if (options_.pipeline_depth != 0) depth_ = std::min(options_.pipeline_depth, largest_depth);
  policy_->attach(*this);
  lane_possible_ = lane_is_possible();
}

Engine::~Engine() = default;

// ---- entrance

void Engine::enter(EventChain& events, Commands& out) {
  inbox_.push(events);
  // Whoever leaves without the lock has pushed before the holder's last look at the inbox.
  while (!inbox_.empty() && lock_.try_lock()) {
    serve(out);
    lock_.unlock();
  }
}

void Engine::enter_surely(EventChain& events, Commands& out) {
  inbox_.push(events);
  lock_.lock();
  serve(out);
  lock_.unlock();
  enter(events, out);
}

void Engine::serve(Commands& out) {
  serve_inbox(out);
  after_events(out);
}

void Engine::apply_all(Event* events, Commands& out) {
  if (fatal_ != nullptr) return;  // what is known is no longer consistent: whoever waits has to look
  try {
    for (Event* event = events; event != nullptr;) {
      Event* following = event->next;  // the event may be somebody else's as soon as it is applied
      if (log_.enabled) log_event(*event);
      apply(*event, out);
      event = following;
    }
  } catch (...) {
    fail(out);
  }
}

void Engine::log_event(const Event& event) {
  if (event.kind == EventKind::task_ready) log_durations(static_cast<const Task&>(event));
  log_.event(event);
}

void Engine::log_durations(const Task& task) {
  if (!options_.estimate || task.has(TaskFlag::hold)) return;
  std::vector<Duration> by_processor;
  for (std::size_t worker = 0; worker < log_processors_.size(); ++worker) {
    if (log_processors_[worker] != by_processor.size()) continue;  // told already
    const bool runs = (task.codelet->kinds >> static_cast<unsigned>(workers_[worker].kind) & 1u) != 0;
    by_processor.push_back(runs ? options_.estimate(task, workers_[worker].id) : Duration{});
  }
  log_.durations(by_processor);
}

void Engine::after_events(Commands& out) {
  if (fatal_ == nullptr) {
    try {
      do {
        follow_effects(out);
        give_work(out);
      } while (follow_lane());
      if (options_.check_invariants) memory_.check(false);
      if (recorder_ != nullptr) record_memory();
      if (log_.enabled) log_.served(digest_.mark());
    } catch (...) {
      fail(out);
    }
  }
  for (const WorkerId worker : out.launched) pipelines_[index(worker)].launched = false;
  if (quiet_wanted_.load(std::memory_order_relaxed)) {
    looks_quiet_.store(nothing_moves());
    out.quiet |= looks_quiet_.load();
  }
}

void Engine::fail(Commands& out) noexcept {
  note_fatal(std::current_exception());
  out.stopped = true;
}

void Engine::note_fatal(std::exception_ptr why) noexcept {
  if (fatal_ == nullptr) fatal_ = std::move(why);
  stopped_.store(true);
  lane_.close();
}

DatumId Engine::add(const memory::DatumSpec& spec) {
  return change([&] {
    if (log_.enabled) log_.datum(spec);
    return memory_.add(spec);
  });
}

bool Engine::try_remove(DatumId id) {
  return change([&] {
    const bool removed = memory_.try_remove(id);
    if (log_.enabled) log_.removal(id);
    return removed;
  });
}

void Engine::advise(DatumId id, int device) {
  change([&] {
    if (log_.enabled) log_.advice(id, device);
    memory_.advise(id, device);
  });
}

void Engine::replace_policy(std::unique_ptr<Policy> policy, std::string name) {
  change([&] {
    ensure(held_by_policy_ + in_pipelines_ + tasks_done_ + tasks_cancelled_ == 0,
           "the policy is replaced before it has seen a task");
    policy_ = std::move(policy);
    options_.policy_name = std::move(name);
    memory_.use_policy(*policy_);
    tell_progress_ = includes(policy_->interests(), Interest::progress);
    tell_submissions_ = includes(policy_->interests(), Interest::submitted);
    policy_->attach(*this);
    lane_possible_ = lane_is_possible();
  });
}

void Engine::submitted(Task& task) {
  if (!tell_submissions_) return;
  change([&] {
    if (log_.enabled) {
      log_durations(task);
      log_.submission(task);
    }
    record_.submitted(task);
    policy_->submitted(task);
  });
}

void Engine::horizon_closed() {
  if (!tell_submissions_) return;
  change([&] {
    if (log_.enabled) log_.horizon_closed();
    policy_->horizon_closed();
  });
}

void Engine::cancel(TaskSource& source) {
  change([&] {
    if (log_.enabled) log_.cancellation(source.id);
    source.cancelled.store(true);
    memory_.note_change();  // who waits for memory and is cancelled hears of it when he is asked
  });
}

void Engine::stop(std::exception_ptr why) noexcept {
  {
    const Guard guard{*this};
    note_fatal(std::move(why));
  }
  world_.stopped();
}

// ---- events

void Engine::apply(Event& event, Commands& out) {
  now_ = std::max(now_, event.at);
  switch (event.kind) {
    case EventKind::task_ready:
      apply_ready(static_cast<Task&>(event), out);
      break;
    case EventKind::task_finished:
    case EventKind::task_failed: {
      const auto reporter = event.reporter;
      apply_over(static_cast<Task&>(event), event.kind == EventKind::task_finished);
      // release: the reporter, who acquires, may reuse the descriptor now. One writer, so no
      // read-modify-write.
      auto& count = applied_[reporter].count;
      count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      break;
    }
    case EventKind::task_returned:
      apply_returned(static_cast<Task&>(event));
      break;
    case EventKind::recall_refused:
      --pipelines_[index(event.worker)].recalls;
      break;
    case EventKind::copy_finished:
    case EventKind::copy_failed:
      if (options_.mistake.is(Mistake::event_lost) && static_cast<memory::Copy&>(event).id % 64 == 63) break;
      ++recent_copies_;
      recent_copy_time_ += event.duration;
      if (recorder_ != nullptr) record_copy(static_cast<memory::Copy&>(event));
      memory_.landed(static_cast<memory::Copy&>(event), event.kind == EventKind::copy_finished);
      break;
    case EventKind::worker_arrived: {
      Pipeline& pipeline = pipelines_[index(event.worker)];
      pipeline.present = true;
      if (!std::exchange(pipeline.ever_present, true))
        awaited_ -= workers_[index(event.worker)].kind != WorkerKind::cpu;
      pipeline.idle_since = event.at;
      pipeline.lane_busy_before = lane_.busy(index(event.worker));
      break;
    }
    case EventKind::worker_left:
      pipelines_[index(event.worker)].present = false;
      left_behind_ = true;
      break;
    case EventKind::flush:
    case EventKind::drop_clean:
      flush_or_drop(event.kind);
      break;
    case EventKind::refresh:
      if (options_.mistake.is(Mistake::refresh_forgotten)) break;
      memory_.refresh(static_cast<const RefreshRequest&>(event).data);
      break;
    case EventKind::hold_released:
      hold_released(static_cast<HoldRelease&>(event), out);
      break;
    case EventKind::time_passed:
      break;
  }
}

void Engine::apply_ready(Task& task, Commands& out) {
  ensure(task.state == TaskState::waiting, "a task becomes ready once");
  if (task.flags != 0) [[unlikely]] {
    if (task.has(TaskFlag::hold)) return hold_ready(task, out);
    if (task.has(TaskFlag::fold) && !memory_.anything_to_fold(task)) return skip_fold(task, out);
  }
  if (must_cancel(task) || memory_.reads_poisoned(task)) {
    if (tell_submissions_) policy_->cancelled(task);  // it knows the task already
    cancel_task(task, out);
    return;
  }
  for (const Access& access : task.accesses()) memory_.look_ahead(access.datum);
  task.state = TaskState::ready;
  ++held_by_policy_;
  policy_->ready(task, task.worker);
}

/// Nothing was added to the partial result: its datum is as it should be.
void Engine::skip_fold(Task& task, Commands& out) {
  if (tell_submissions_) {
    policy_->cancelled(task);  // it knows the task already
    record_.over(task);
  }
  ++folds_skipped_;
  complete(task, out, 3);
}

void Engine::cancel_task(Task& task, Commands& out) {
  memory_.poison_outputs(task);
  lane_.close();  // whoever reads that has to be told
  if (task.has(TaskFlag::fold)) memory_.fold_over(task);
  if (tell_submissions_) record_.over(task);
  task.cancelled = true;
  ++tasks_cancelled_;
  complete(task, out, 0);
}

/// The task is over without having run: whoever carries commands out releases its successors.
void Engine::complete(Task& task, Commands& out, std::uint64_t how) {
  task.state = TaskState::finished;
  transit_.fetch_add(1, std::memory_order_relaxed);  // under the lock: whoever asks takes it, too
  digest_.add(CommandDigest::Kind::complete, static_cast<std::uint64_t>(task.id), how);
  out.completions.push_back(&task);
}

void Engine::apply_over(Task& task, bool succeeded) {
  ensure(task.state == TaskState::staged, "a task that finishes was staged");
  Pipeline& pipeline = pipelines_[index(task.worker)];
  pipeline.tasks.remove(task);
  --pipeline.staged;
  --in_pipelines_;
  pipeline.busy += task.duration;
  ++pipeline.tasks_run;
  if (pipeline.staged == 0) {
    pipeline.idle_since = now_;
    pipeline.lane_busy_before = lane_.busy(index(task.worker));
    pipeline.lost_to_data = pipeline.tasks.size() != 0 && !pipeline.aside;
    starved_ += pipeline.lost_to_data;
  }
  if (tell_progress_ && !task.has(TaskFlag::told_started)) policy_->started(task, task.worker);
  memory_.release(task, succeeded ? memory::Outcome::succeeded : memory::Outcome::failed);
  if (!succeeded) lane_.close();
  if (task.has(TaskFlag::fold)) [[unlikely]]
    memory_.fold_over(task);
  learn(task, succeeded);
  if (tell_submissions_) record_.over(task);
  if (task.workers_wanted != 0) [[unlikely]]
    span_over(task, true);
  task.state = TaskState::finished;
  ++tasks_done_;
  if (tell_progress_) {
    policy_->finished(task, task.worker, task.duration);
    tell_started(task.worker);
  }
  recent_task_time_ += task.duration;
  if (++recent_tasks_ == adapt_every) adapt_depth();
}

void Engine::learn(const Task& task, bool succeeded) {
  const model::Processor& processor = processors_[index(task.worker)];
  if (has_choice(task, task.worker)) [[unlikely]] {
    const model::Footprint size = footprint(task);
    if (succeeded) model_.record(*task.codelet, processor, size, task.duration, task.implementation);
    chooser_.over(*task.codelet, processor, size, task.implementation, task.duration, succeeded);
  } else if (succeeded && model_.wants(*task.codelet, processor)) {
    model_.record(*task.codelet, processor, footprint(task), task.duration);
  }
}

/// The worker has gone on to its next staged task.
void Engine::tell_started(WorkerId worker) {
  Pipeline& pipeline = pipelines_[index(worker)];
  for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
    Task& task = pipeline.tasks[i];
    if (task.state != TaskState::staged) continue;
    if (!task.has(TaskFlag::told_started)) {
      task.set(TaskFlag::told_started);
      policy_->started(task, worker);
    }
    return;
  }
}

/// A staged task came back: it goes to the emptiest worker of its node, which is why it was asked for, unless
/// its own is to stand aside.
void Engine::apply_returned(Task& task) {
  Pipeline& from = pipelines_[index(task.worker)];
  --from.staged;
  --from.recalls;
  task.clear(TaskFlag::recalled);
  if (has_choice(task, task.worker))
    chooser_.returned(*task.codelet, processors_[index(task.worker)], footprint(task),
                      std::exchange(task.implementation, no_implementation));
  if (task.workers_wanted != 0) span_over(task, false);
  WorkerId best = task.worker;
  for (const WorkerInfo& worker : workers_) {
    if (from.aside) break;  // stage() looks for room elsewhere; all that this worker had comes back now
    const Pipeline& pipeline = pipelines_[index(worker.id)];
    if (!pipeline.present || pipeline.aside || worker.node != task.node || !can_run(task, worker.id))
      continue;
    if (!pipelines_[index(best)].present || pipeline.tasks.size() < pipelines_[index(best)].tasks.size())
      best = worker.id;
  }
  if (options_.mistake.is(Mistake::returned_task_lost)) return from.tasks.remove(task);
  if (best != task.worker || !from.aside) change_worker(task, best);
  // It is launched after the events that are served together, or its end could come among these.
  task.state = TaskState::admitted;
  memory_.effects.landed.push_back(&task);
}

void Engine::follow_effects(Commands& out) {
  auto& effects = memory_.effects;
  for (std::size_t i = 0; i < effects.landed.size(); ++i) {
    Task& task = *effects.landed[i];
    if (task.state != TaskState::admitted || task.pending_copies != 0) continue;
    if (task.failure != nullptr) continue;  // another of its copies has failed, in the same batch of events
    task.has(TaskFlag::hold) ? hold_landed(task, out) : stage(task, out);
  }
  effects.landed.clear();
  for (std::size_t i = 0; i < effects.failed.size(); ++i) {
    Task& task = *effects.failed[i];
    if (task.has(TaskFlag::hold)) {
      hold_failed(task, out);
      continue;
    }
    Pipeline& pipeline = pipelines_[index(task.worker)];
    pipeline.tasks.remove(task);
    --in_pipelines_;
    memory_.release(task, memory::Outcome::failed);
    lane_.close();
    if (task.has(TaskFlag::fold)) memory_.fold_over(task);
    policy_->cancelled(task);
    if (tell_submissions_) record_.over(task);
    ++tasks_cancelled_;
    complete(task, out, 1);
  }
  effects.failed.clear();
  for (memory::Copy* copy : effects.started) {
    copy->at = copy->started = now_;
    digest_.add(CommandDigest::Kind::start_copy, (copy->id << 32) | index(copy->datum),
                (index(copy->from->node) << 16) | index(copy->to->node),
                copy->to->block.offset ^ (copy->via == nullptr ? 0 : ~copy->via->block.offset));
    out.copies.push_back(copy);
  }
  effects.started.clear();
  if (effects.stop_error != 0) {
    if (stop_error_ == 0) {
      stop_datum_ = effects.stop_datum;
      stop_failure_ = std::move(effects.stop_failure);
      stop_error_ = effects.stop_error;  // after the others: other threads look at it first
      digest_.add(CommandDigest::Kind::stop, index(stop_datum_),
                  static_cast<std::uint64_t>(effects.stop_error));
    }
    effects.stop_error = 0;
    effects.stop_failure = nullptr;
    out.stopped = true;
  }
}

// ---- giving work

/// Its data are there.
void Engine::stage(Task& task, Commands& out) {
  if (task.workers_wanted != 0 || pipelines_[index(task.worker)].aside) [[unlikely]]
    if (put_off(task)) return;
  launch(task, out);
}

void Engine::launch(Task& task, Commands& out) {
  Pipeline& pipeline = pipelines_[index(task.worker)];
  if (pipeline.staged++ == 0 && pipeline.present) {
    const Duration in_lane = lane_.busy(index(task.worker)) - pipeline.lane_busy_before;
    const Duration idle = std::max(Duration{}, now_ - pipeline.idle_since - in_lane);
    (pipeline.lost_to_data ? pipeline.waiting_for_data : pipeline.waiting_for_tasks) += idle;
    if (recorder_ != nullptr && idle > Duration{}) {
      using enum trace::WaitRecord::For;
      recorder_->wait({pipeline.idle_since, idle, task.worker, pipeline.lost_to_data ? data : tasks});
    }
  }
  left_behind_ |= !pipeline.present;
  task.state = TaskState::staged;
  std::uint64_t chosen = 0;
  if (has_choice(task, task.worker)) [[unlikely]] {
    chosen = chooser_.choose(*task.codelet, processors_[index(task.worker)], footprint(task));
    task.implementation = static_cast<std::uint8_t>(chosen);
  }
  digest_.add(CommandDigest::Kind::launch, static_cast<std::uint64_t>(task.id), index(task.worker), chosen);
  world_.launch(task.worker, task);
  if (!std::exchange(pipeline.launched, true)) out.launched.push_back(task.worker);
  if (tell_progress_ && pipeline.staged == 1) tell_started(task.worker);
}

/// Admits what waits for memory in this pipeline, in order.
bool Engine::try_admit(WorkerId worker, Commands& out) {
  Pipeline& pipeline = pipelines_[index(worker)];
  bool progress = false;
  for (std::size_t i = pipeline.first_unadmitted(); i < pipeline.tasks.size() && pipeline.unadmitted > 0;) {
    Task& task = pipeline.tasks[i];
    if (task.state != TaskState::picked) {
      ++i;
      continue;
    }
    // A commutative task may learn only now that another of its group failed.
    if (must_cancel(task) || memory_.reads_poisoned(task)) {
      memory_.forget_claim(task);
      pipeline.tasks.remove(task);
      --pipeline.unadmitted;
      --unadmitted_;
      --in_pipelines_;
      policy_->cancelled(task);
      cancel_task(task, out);
      progress = true;
      continue;
    }
    const bool first = pipeline.tasks.size() == pipeline.unadmitted;
    if (memory_.admit(task, workers_[index(worker)].node, first) == memory::Admission::admitted) {
      --pipeline.unadmitted;
      --unadmitted_;
      progress = true;
      if (task.pending_copies == 0) stage(task, out);
    }
    ++i;  // one behind it may be the node's claimant, or need no space
  }
  return progress;
}

/// At most one more task for this worker. True if something changed.
bool Engine::give_one(WorkerId worker, Commands& out) {
  Pipeline& pipeline = pipelines_[index(worker)];
  if (!pipeline.present || pipeline.aside || pipeline.tasks.size() >= depth_ || held_by_policy_ == 0)
    return false;
  if (pipeline.unadmitted > 0) {
    // Looking further only helps if what waits does so for a token, not for memory.
    if (pipeline.unadmitted >= unadmitted_allowed) return false;
    for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
      const Task& task = pipeline.tasks[i];
      if (task.state != TaskState::picked) continue;
      if (!memory_.waits_for_token(task)) return false;
    }
  }
  Task* task = policy_->pick(worker, false);
  if (task != nullptr) take_from_policy(*task, worker, out);
  return task != nullptr;
}

/// The policy has given the task out for this worker.
void Engine::take_from_policy(Task& task, WorkerId worker, Commands& out) {
  --held_by_policy_;
  if (must_cancel(task)) {
    policy_->cancelled(task);
    cancel_task(task, out);
    return;
  }
  Pipeline& pipeline = pipelines_[index(worker)];
  task.state = TaskState::picked;
  task.worker = worker;
  pipeline.tasks.push(task);
  ++pipeline.unadmitted;
  ++unadmitted_;
  ++in_pipelines_;
  try_admit(worker, out);
}

/// Ends only when whoever waits for memory, task or hold, was refused after the last change.
void Engine::give_work(Commands& out) {
  if (spans_.any()) [[unlikely]]
    advance_spans(out);
  do {
    hand_out(out);
    if (unadmitted_ != 0) share_unadmitted(out);
    share_staged();
  } while (insist(out) || (spans_.any() && advance_spans(out)) || somebody_may_fit());
  prefetch_upcoming(out);
}

void Engine::hand_out(Commands& out) {
  for (bool again = held_by_policy_ + unadmitted_ + holds_waiting_.size() > 0; again;) {
    const bool changed = memory_.take_change() || stop_error_ != 0;
    again = changed && !holds_waiting_.empty() && admit_holds(out);
    for (const WorkerInfo& worker : workers_) {
      if (changed && pipelines_[index(worker.id)].unadmitted > 0) again |= try_admit(worker.id, out);
      again |= give_one(worker.id, out);
    }
    // Also if nobody was admitted: what makes way may be on its way home.
    if (!memory_.effects.started.empty() || !memory_.effects.failed.empty()) follow_effects(out);
    again |= somebody_may_fit();
  }
}

/// Data of tasks that are next once pipelines are full, into space that nobody waits for (rule 6).
void Engine::prefetch_upcoming(Commands& out) {
  if (held_by_policy_ == 0 || stop_error_ != 0 || unadmitted_ != 0 || !holds_waiting_.empty()) return;
  std::array<DatumId, prefetched_together> wanted;
  for (const WorkerInfo& worker : workers_) {
    const Pipeline& pipeline = pipelines_[index(worker.id)];
    if (!pipeline.present || pipeline.tasks.size() < depth_ || !memory_.may_prefetch(worker.node)) continue;
    const std::size_t count = policy_->upcoming(worker.id, wanted);
    for (const DatumId id : std::span(wanted).first(count)) memory_.prefetch(id, worker.node);
  }
  if (!memory_.effects.started.empty()) follow_effects(out);
}

/// Workers with nothing to do get a task that waits behind another one of their node: there it may take half
/// of the node only, here all.
void Engine::share_unadmitted(Commands& out) {
  for (const WorkerInfo& idle : workers_) {
    Pipeline& empty = pipelines_[index(idle.id)];
    for (const WorkerInfo& busy : workers_) {
      Pipeline& pipeline = pipelines_[index(busy.id)];
      if (!empty.present || empty.aside || empty.tasks.size() != 0) break;
      if (busy.node != idle.node || pipeline.unadmitted == 0) continue;
      if (pipeline.unadmitted == pipeline.tasks.size() && !pipeline.aside) continue;
      for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
        Task& task = pipeline.tasks[i];
        if (task.state != TaskState::picked || !can_run(task, idle.id)) continue;
        pipeline.tasks.remove(task);
        --pipeline.unadmitted;
        task.worker = idle.id;
        empty.tasks.push(task);
        ++empty.unadmitted;
        try_admit(idle.id, out);
        break;
      }
    }
  }
  if (!memory_.effects.started.empty() || !memory_.effects.failed.empty()) follow_effects(out);
}

void Engine::recall(Task& task) {
  task.set(TaskFlag::recalled);
  ++pipelines_[index(task.worker)].recalls;
  digest_.add(CommandDigest::Kind::recall, static_cast<std::uint64_t>(task.id), index(task.worker));
  world_.recall(task.worker, task);
}

/// Workers with nothing to do get the last staged task of a neighbour that has more than it can start now.
void Engine::share_staged() {
  if (in_pipelines_ < 2) {
    if (!left_behind_) return;
    left_behind_ = std::ranges::any_of(
        pipelines_, [](const Pipeline& pipeline) { return !pipeline.present && pipeline.staged != 0; });
  }
  for (const WorkerInfo& idle : workers_) {
    const Pipeline& empty = pipelines_[index(idle.id)];
    if (!empty.present || empty.aside || empty.tasks.size() != 0) continue;
    for (const WorkerInfo& busy : workers_) {
      Pipeline& pipeline = pipelines_[index(busy.id)];
      if (busy.node != idle.node || pipeline.recalls != 0 || pipeline.staged <= (pipeline.present ? 1 : 0))
        continue;
      for (std::size_t i = pipeline.tasks.size(); i-- > 0;) {
        Task& task = pipeline.tasks[i];
        if (task.state != TaskState::staged || task.has(TaskFlag::recalled) || !can_run(task, idle.id))
          continue;
        recall(task);
        break;
      }
      if (pipeline.recalls != 0) break;
    }
  }
}

/// If nothing runs and nothing moves although tasks are ready, the policy has to give one out.
/// True if what waited for memory was admitted, or found to be cancelled: then others may have their turn.
bool Engine::insist(Commands& out) {
  while (in_pipelines_ == 0 && held_by_policy_ > 0 && memory_.copies_in_flight() == 0) {
    Task* task = nullptr;
    WorkerId worker{};
    bool anybody = false;
    for (const WorkerInfo& candidate : workers_) {
      if (!pipelines_[index(candidate.id)].present) continue;
      anybody = true;
      worker = candidate.id;
      if ((task = policy_->pick(worker, true)) != nullptr) break;
    }
    if (!anybody) return false;
    // What is for an accelerator that is just starting does not go elsewhere: the data would live there.
    if (task == nullptr && awaited_ != 0) return false;
    for (std::size_t i = 0; task == nullptr && i < workers_.size(); ++i) {
      if (!pipelines_[i].present) continue;
      worker = workers_[i].id;
      task = policy_->take_any(worker);
    }
    if (task == nullptr) {  // no present worker can run what is ready
      if (std::ranges::all_of(pipelines_, &Pipeline::present))
        throw Error("internal: the policy " + options_.policy_name + " gives out none of " +
                    std::to_string(held_by_policy_) + " ready tasks");
      return false;
    }
    take_from_policy(*task, worker, out);
    follow_effects(out);
  }
  if (!everything_waits_for_memory()) return false;
  if (memory_.changed()) return true;  // they have not been asked since
  // Nothing that could free some is under way: then somebody must have been admitted.
  bool progress = admit_holds(out);
  for (const WorkerInfo& worker : workers_) progress |= try_admit(worker.id, out);
  follow_effects(out);
  if (progress && options_.check_invariants)
    throw Error("internal: who waited for memory was not asked again when there was some");
  // What the application holds may lie in the way: it is told when it waits, see quiet().
  if (!progress && !memory_.changed() && everything_waits_for_memory() && holds_granted_.empty() &&
      !lane_pinned_)
    throw Error("internal: " + std::to_string(unadmitted_ + holds_waiting_.size()) +
                " tasks and holds wait for memory and nothing frees any");
  return progress;
}

bool Engine::everything_waits_for_memory() const noexcept {
  return unadmitted_ + holds_waiting_.size() > 0 && in_pipelines_ == unadmitted_ && holds_arriving_.empty() &&
         memory_.copies_in_flight() == 0;
}

/// Pipelines are as deep as copies take tasks: data are then there when a task's turn comes, and not much is
/// decided before it must be.
void Engine::adapt_depth() {
  if (options_.pipeline_depth == 0) {
    const Duration task = recent_task_time_ / recent_tasks_;
    if (task < tiny_task) {
      depth_ = tiny_task_depth;
    } else if (task < short_task) {
      depth_ = short_task_depth;
    } else if (recent_copies_ == 0) {
      depth_ = 2;
    } else {
      const Duration copy = recent_copy_time_ / recent_copies_;
      const auto cover = static_cast<std::size_t>(copy / task) + 2;
      depth_ = std::clamp(cover + starved_, smallest_depth, largest_depth);
    }
  }
  recent_tasks_ = recent_copies_ = 0;
  recent_task_time_ = recent_copy_time_ = Duration{};
  starved_ = 0;
}

// ---- view

bool Engine::can_run(const Task& task, WorkerId worker) const {
  const WorkerInfo& it = workers_[index(worker)];
  return ((task.codelet->kinds >> static_cast<unsigned>(it.kind)) & 1u) != 0 &&
         ((task.nodes_excluded >> index(it.node)) & 1u) == 0;
}

Duration Engine::estimate(const Task& task, WorkerId worker) const {
  if (options_.estimate) return options_.estimate(task, worker);
  return estimate_there(task, worker).duration;
}

bool Engine::known(const Task& task, WorkerId worker) const {
  if (options_.estimate) return true;
  return estimate_there(task, worker).known();
}

model::Estimate Engine::estimate_there(const Task& task, WorkerId worker) const {
  const model::Processor& processor = processors_[index(worker)];
  return has_choice(task, worker) ? chooser_.estimate(*task.codelet, processor, footprint(task))
                                  : model_.estimate(*task.codelet, processor, footprint(task));
}

model::Footprint Engine::footprint(const Task& task) const {
  model::Footprint result;
  for (const Access& access : task.accesses()) result.add(memory_.datum(access.datum).bytes);
  result.add_work(task.work);
  if (task.workers_wanted != 0) result.add_workers(task.workers_wanted);
  return result;
}

Duration Engine::transfer_time(DatumId id, NodeId node) const { return memory_.transfer_time(id, node); }
std::uint32_t Engine::distance(WorkerId a, WorkerId b) const {
  const NodeId from = workers_[index(a)].node, to = workers_[index(b)].node;
  if (from == to) return 0;
  const memory::Route& route = memory_.routes().between(from, to);
  return route.exists() && route.through == no_id<NodeId> ? 1 : 2;
}
Duration Engine::transfer_time(Bytes bytes, NodeId from, NodeId to) const {
  return from == to ? Duration{} : memory_.routes().between(from, to).time(bytes);
}

void Engine::pipeline(NodeId node, std::vector<const Task*>& out) const {
  out.clear();
  for (const WorkerInfo& worker : workers_) {
    if (worker.node != node) continue;
    const Pipeline& pipeline = pipelines_[index(worker.id)];
    for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) out.push_back(&pipeline.tasks[i]);
  }
}

void Engine::successors(const Task& task, std::vector<Task*>& out) const { record_.successors(task, out); }
std::uint32_t Engine::remaining_writers(DatumId id) const { return record_.writers(id); }

}  // namespace fairlead::engine
