// The engine's reaction to each event, and its functions for the program under the lock.
#include "engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace fairlead::engine {

namespace {

/// The number of workers on the accelerator that has the most.
std::size_t most_streams(const Topology& topology) {
  std::size_t most = 0;
  for (const NodeId node : topology.devices()) most = std::max(most, topology.workers_on(node));
  return most;
}

}  // namespace

Engine::Engine(const Topology& topology, std::unique_ptr<Policy> policy, World& world, Options options)
    : world_(world),
      options_(std::move(options)),
      policy_(std::move(policy)),
      memory_(topology, *policy_),
      durations_(topology, memory_, options_.estimate, options_.durations, options_.first_bodies),
      pipelines_(topology.workers.size()),
      depth_(options_.pipeline_depth, most_streams(topology)),
      view_(topology, memory_, pipelines_, durations_, options_.seed),
      fast_path_(topology.workers.size(), options_.reporters, memory_, view_.host(), effects_),
      journal_(topology, options_),
      endings_(memory_, effects_, fast_path_, pipelines_, policy_, journal_, deliveries_, stop_, roles_),
      roles_({.memory = memory_,
              .effects = effects_,
              .view = view_,
              .fast_path = fast_path_,
              .endings = endings_,
              .journal = journal_,
              .deliveries = deliveries_,
              .pseudo_tasks = pseudo_tasks_,
              .mistake = options_.mistake}),
      launcher_(world_, view_, fast_path_, pipelines_, durations_, policy_, journal_),
      gathering_(memory_, world_, view_, fast_path_, pipelines_, depth_, launcher_, endings_, journal_),
      pause_(view_, pipelines_, launcher_, fast_path_, memory_),
      dispatcher_({.memory = memory_,
                   .effects = effects_,
                   .view = view_,
                   .pipelines = pipelines_,
                   .depth = depth_,
                   .policy = policy_,
                   .durations = durations_,
                   .journal = journal_,
                   .launcher = launcher_,
                   .gathering = gathering_,
                   .pause = pause_,
                   .pseudo_tasks = pseudo_tasks_,
                   .roles = roles_,
                   .endings = endings_,
                   .fast_path = fast_path_,
                   .stop = stop_},
                  options_),
      entrance_(*this, world_, deliveries_, options_.reporters) {
  memory_.make(options_.mistake);
  if (options_.keep_ids) memory_.keep_ids();
  if (options_.what_if_simulation) {
    what_if_ = options_.what_if_simulation(memory_, view_, [this](SimulationFinished& over) {
      entrance_.post(over, EventKind::simulation_finished, no_id<WorkerId>, Time{});
      world_.wake(WakeTarget::any_worker());
    });
    view_.set_what_if_simulation(what_if_.get());
  }
  policy_->attach(view_);
  fast_path_.allow(fast_path_is_possible());
}

// ---- serving

void Engine::serve(Event* events, Commands& out) noexcept {
  if (stop_.fatal() != nullptr) return;  // the state is inconsistent: waiting threads must check
  try {
    for (Event* event = events; event != nullptr;) {
      Event* following = event->next;  // the event may be reused as soon as it is applied
      journal_.event(*event);
      apply(*event, out);
      event = following;
    }
  } catch (...) {
    fail(std::current_exception(), out);
  }
}

void Engine::follow(Commands& out) noexcept {
  if (stop_.fatal() == nullptr) {
    try {
      do {
        dispatcher_.follow(out);
        dispatcher_.give_work(out);
      } while (fast_path_.update());
      if (options_.check_invariants) memory_.check(false);
      if (journal_.records()) journal_.memory_at(view_.now(), memory_, view_.caches());
      journal_.served();
    } catch (...) {
      fail(std::current_exception(), out);
    }
  }
  for (const WorkerId worker : out.launched) pipelines_.forget_launched(worker);
  const bool hungry = dispatcher_.held_by_policy() < policy_.enough();
  if (hungry != hungry_.load(std::memory_order_relaxed)) hungry_.store(hungry);
  if (deliveries_.quiescence_requested()) {
    looks_quiet_.store(is_idle() || pause_.is_complete());
    out.quiet |= looks_quiet_.load();
  }
}

void Engine::fail(std::exception_ptr why, Commands& out) noexcept {
  note_fatal(std::move(why));
  out.stopped = true;
}

void Engine::note_fatal(std::exception_ptr why) noexcept {
  stop_.note_fatal(std::move(why));
  fast_path_.close();
}

void Engine::apply(Event& event, Commands& out) {
  view_.advance(event.at);
  switch (event.kind) {
    case EventKind::task_ready:
      return dispatcher_.ready(static_cast<Task&>(event), out);
    case EventKind::task_finished:
    case EventKind::task_failed: {
      const auto reporter = event.reporter;
      dispatcher_.finished(static_cast<Task&>(event), event.kind == EventKind::task_finished);
      return entrance_.count_applied(reporter);
    }
    case EventKind::task_returned:
      return dispatcher_.returned(static_cast<Task&>(event));
    case EventKind::task_reclaimed:
      return dispatcher_.reclaimed(static_cast<Task&>(event));
    case EventKind::recall_refused:
      return pipelines_.answered(event.worker);
    case EventKind::copy_finished:
    case EventKind::copy_failed:
      return apply_copy(static_cast<memory::Copy&>(event));
    case EventKind::worker_available:
      if (pipelines_.arrived(event.worker, event.at, launcher_.in_fast_path(event.worker)))
        dispatcher_.worker_arrived(event.worker);
      return;
    case EventKind::worker_unavailable:
      return pipelines_.left(event.worker);
    case EventKind::worker_lost:
      return dispatcher_.worker_lost(event.worker, out);
    case EventKind::node_lost:
      return lose(static_cast<const NodeLoss&>(event), out);
    case EventKind::flush:
      if (pause_.is_complete()) return memory_.flushes().flush(effects_, memory::Flushes::Writers::paused);
      [[fallthrough]];
    case EventKind::discard_clean:
      return fast_path_.flush_or_drop(event.kind);
    case EventKind::refresh:
      if (options_.mistake.is(Mistake::refresh_forgotten)) return;
      return memory_.flushes().refresh(static_cast<const RefreshRequest&>(event).data, effects_);
    case EventKind::hold_released:
      return apply_release(static_cast<HoldRelease&>(event), out);
    case EventKind::simulation_finished:
      if (what_if_ != nullptr) what_if_->note_finished();
      return policy_->simulation_finished(static_cast<const SimulationFinished&>(event).result);
    case EventKind::pause:
      return pause_.begin();
    case EventKind::resume:
      return pause_.end();
    case EventKind::timer:
      return;
  }
}

void Engine::apply_copy(memory::Copy& copy) {
  if (options_.mistake.is(Mistake::event_lost) && copy.id % 64 == 63) return;
  depth_.copy_over(copy.duration);
  if (journal_.records()) journal_.copy_over(copy, memory_.routes());
  memory_.landed(copy, copy.kind == EventKind::copy_finished, effects_);
}

/// Its workers are lost first, so that no task that has not started holds memory there.
void Engine::lose(const NodeLoss& loss, Commands& out) {
  if (memory_.node(loss.node).lost) return;
  memory_.losses().announce(loss.node, loss.driver_error);
  for (const WorkerInfo& worker : view_.workers())
    if (worker.node == loss.node) dispatcher_.worker_lost(worker.id, out);
  fast_path_.close();
  memory_.losses().lose(loss.node, effects_);
}

void Engine::apply_release(HoldRelease& release, Commands& out) {
  if (release.hold != nullptr) {
    release.granted = release.hold->state == TaskState::staged;
    roles_.of(*release.hold).released(release, out);
  }
  release.applied.store(true, std::memory_order_release);  // the event may be destroyed after this
}

bool Engine::is_idle() const noexcept {
  return !needs_more_tasks() && memory_.transfers().in_flight() == 0 && pseudo_tasks_.arriving().empty() &&
         pipelines_.tasks() == pipelines_.unadmitted() &&
         (dispatcher_.held_by_policy() == 0 || pipelines_.tasks() != 0) && !fast_path_.pinned() &&
         fast_path_.path().is_quiescent();
}

bool Engine::is_quiescent() {
  const EventQueue::Guard guard{entrance_};
  // The order matters: a thread that passes on a completion posts the released tasks before it leaves the count of
  // deliveries; so does a worker that leaves the fast path.
  return deliveries_.none() && is_idle() && !entrance_.something_posted() && stop_.fatal() == nullptr;
}

bool Engine::is_paused() {
  const EventQueue::Guard guard{entrance_};
  return deliveries_.none() && pause_.is_complete() && !entrance_.something_posted();
}

// ---- for the program

DatumId Engine::add(const memory::DatumSpec& spec) {
  return change([&] {
    journal_.datum(spec);
    return memory_.add(spec);
  });
}

bool Engine::try_remove(DatumId id) {
  return change([&] {
    const bool removed = memory_.try_remove(id);
    journal_.removal(id);
    return removed;
  });
}

void Engine::advise(DatumId id, int device) {
  change([&] {
    journal_.advice(id, device);
    memory_.advise(id, device);
  });
}

void Engine::put_refresh_off(DatumId id, bool put_off) {
  change([&] {
    journal_.refresh_put_off(id, put_off);
    memory_.flushes().put_off(id, put_off);
  });
}

void Engine::replace_policy(std::unique_ptr<Policy> policy, std::string name) {
  change([&] {
    ensure(dispatcher_.held_by_policy() + pipelines_.tasks() + endings_.done() + endings_.cancelled() == 0,
           "the policy is replaced before it has seen a task");
    policy_.replace(std::move(policy));
    options_.policy_name = std::move(name);
    memory_.use_policy(*policy_);
    policy_->attach(view_);
    fast_path_.allow(fast_path_is_possible());
  });
}

void Engine::submitted(Task& task) {
  if (!wants_submissions()) return;
  change([&] {
    journal_.submission(task);
    memory_.flushes().early().expect(task);
    if (policy_plans()) policy_->submitted(task);
  });
}

void Engine::horizon_closed() {
  if (!policy_.wants_submissions()) return;
  change([&] {
    journal_.horizon_closed();
    policy_->horizon_closed();
  });
}

void Engine::all_submitted() {
  if (!memory_.flushes().early().possible()) return;
  change([&] {
    journal_.all_submitted();
    memory_.flushes().early().all_are_known();
  });
}

void Engine::cancel(TaskSource& source) noexcept {
  try {
    const EventQueue::Guard guard{entrance_};
    if (stop_.fatal() != nullptr) return;
    journal_.cancellation(source.id);
    source.cancelled.store(true);
    memory_.note_change();  // cancelled tasks that wait for memory are dropped when they are tried again
    // Workers may wait for its result before they take tasks, the cancelled ones among them.
    if (what_if_ != nullptr) what_if_->cancel();
  } catch (...) {
    stop(std::current_exception());
  }
}

void Engine::stop(std::exception_ptr why) noexcept {
  {
    const EventQueue::Guard guard{entrance_};
    note_fatal(std::move(why));
  }
  world_.wake(WakeTarget::all());
}

// ---- fast path

/// Whether all workers share one memory and the policy's order needs no engine.
bool Engine::fast_path_is_possible() const noexcept {
  return options_.fast_path && policy_->uses_local_queues() && !journal_.logs() &&
         view_.caches().size() == 1 && std::ranges::all_of(view_.workers(), [&](const WorkerInfo& worker) {
           return worker.node == view_.host() && worker.kind == WorkerKind::cpu;
         });
}

bool Engine::try_open_fast_path() {
  const EventQueue::Guard guard{entrance_};
  if (stop_.fatal() != nullptr || stop_.error() != 0) return false;
  if (gathering_.any() || pause_.is_requested()) return false;  // idle workers would not be visible
  return fast_path_.try_open();
}

void* Engine::admit_to_fast_path(DatumId id, bool has_value) {
  return change([&]() -> void* {
    const auto location = fast_path_.admit(id, has_value);
    return location ? world_.address_of(*location) : nullptr;
  });
}

void Engine::failed_in_fast_path(const Task& task) {
  change([&] {
    fast_path_.close();
    memory_.poison().mark_outputs(task);
  });
}

void Engine::note_duration(const Task& task, WorkerId worker, Duration duration) {
  change([&] { durations_.note(task, worker, duration); });
}

// ---- reports

LogHead Engine::log_head() const {
  return {.policy = options_.policy_name,
          .seed = options_.seed,
          .pipeline_depth = options_.pipeline_depth,
          .keep_ids = options_.keep_ids,
          .first_bodies = options_.first_bodies,
          .has_what_if = options_.what_if_simulation != nullptr,
          .idle_cores = what_if_ != nullptr ? what_if_->idle_cores() : 0,
          .durations_known = options_.estimate != nullptr,
          .topology = memory_.topology(),
          .durations = options_.durations};
}

std::uint64_t Engine::activity() const {
  const EventQueue::Guard guard{entrance_};
  return journal_.digest().count() + tasks_done() + endings_.cancelled() +
         memory_.transfers().finished_copies();
}

}  // namespace fairlead::engine
