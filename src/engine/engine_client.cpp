// The order of steps that keeps the engine's view consistent: post finished tasks, release their successors, enter the
// engine.
#include "engine/engine_client.hpp"

#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <utility>

namespace fairlead::engine {

EngineClient::EngineClient(Engine& engine, World& world, graph::DependencyGraph& graph, std::uint16_t id)
    : engine_(engine),
      tracer_(engine.journal().tracer() == nullptr ? nullptr : &engine.journal().tracer()->thread(id)),
      world_(world),
      id_(id),
      recycler_(graph.tasks(), graph.epochs(), id) {
  batch_.reserve(most_unreported);
}

/// Unreported events and unexecuted commands are lost, so the engine's state is unreliable: the run is stopped.
template <class F>
void EngineClient::or_stop(F&& f) noexcept {
  try {
    f();
  } catch (...) {
    batch_.clear();
    cancelled_.clear();
    finished_.clear();
    events_.clear();
    commands_.clear();
    engine_.stop(std::current_exception());
  }
}

namespace {
/// A body's arguments are destroyed when the task finishes: after wait() none is left, and the codelet may be
/// destroyed.
void destroy_closure(Task& task) {
  if (task.family->closure_at == 0 && task.codelet->destroy_closure != nullptr)
    task.codelet->destroy_closure(task.closure.data());
}
}  // namespace

void EngineClient::finished(Task& task, Time at, Duration duration) {
  destroy_closure(task);
  task.kind = task.failure == nullptr ? EventKind::task_finished : EventKind::task_failed;
  task.at = at;
  task.duration = duration;
  task.reporter = id_;
  if (tracer_ != nullptr) record(task);
  batch_.push_back(&task);
}

/// Uses the times that were measured anyway.
void EngineClient::record(const Task& task) {
  trace::TaskRecord record;
  record.start_ns = (task.at - task.duration).count();
  record.set_duration(task.duration);
  record.worker = task.worker;
  const std::size_t count = task.access_count;
  record.data_count = static_cast<std::uint8_t>(std::min<std::size_t>(count, 255));
  std::uint32_t flags = task.kind == EventKind::task_failed ? trace::TaskRecord::failed_flag : 0u;
  const auto use = [&](std::size_t place, const Access& access) {
    record.data[place] = access.datum;
    flags |= (writes(access.mode) ? 1u : 0u) << place;
  };
  const Access* access = task.accesses_begin;
  if (count > 0) use(0, access[0]);
  if (count > 1) use(1, access[1]);
  if (count > 2) use(2, access[count - 1]);
  record.flags = static_cast<std::uint8_t>(flags);
  if (task.implementation == no_implementation) [[likely]]
    tracer_->add(record, *task.codelet);
  else
    tracer_->add(record, *task.codelet, engine_.view().workers()[index(task.worker)].kind,
                 task.implementation);
}

void EngineClient::add(EventChain& events) noexcept {
  for (Event* event = events.take_in_order(); event != nullptr;) {
    Event* following = event->next;
    events_.append(*event);
    event = following;
  }
}

/// The tasks are finished and reported; releases their successors. Consecutive tasks of one source are counted
/// together.
void EngineClient::complete(std::vector<Task*>& tasks) {
  const std::uint32_t fast_path = engine_.fast_path().generation();
  for (std::size_t begin = 0; begin < tasks.size();) {
    TaskSource* const source = tasks[begin]->source();
    std::size_t end = begin;
    for (; end < tasks.size() && tasks[end]->source() == source; ++end) {
      EventChain described;
      ReadyTasks ready(recycler_, fast_path == 0 ? events_ : described, fast_path);
      source->release(*tasks[end], ready);
      if (fast_path != 0) hand_on(ready.lazy(), described);
    }
    source->count(end - begin, recycler_);
    begin = end;
  }
}

/// Queues the tasks that the fast path admits; the others become events. `next`: if given and unset, receives the first
/// admitted task.
void EngineClient::hand_on(std::span<LazyTask* const> lazy, EventChain& described, LazyTask** next) {
  bool fill_template = false;
  for (LazyTask* const task : lazy)
    if (engine_.fast_path().put(id_, *task))
      fill_template = true;
    else
      add_ready(describe(*task));
  for (Event* event = described.take_in_order(); event != nullptr;) {
    Event* following = event->next;
    Task& task = static_cast<Task&>(*event);
    if (next != nullptr && *next == nullptr && engine_.fast_path().admits(task))
      *next = &task;
    else if (put_in_fast_path(task))
      fill_template = true;
    else
      events_.append(task);
    event = following;
  }
  if (fill_template) world_.wake(WakeTarget::any_worker());
}

void EngineClient::put_back(LazyTask& task) {
  if (engine_.fast_path().generation() == 0 || !engine_.fast_path().put(id_, task)) add_ready(describe(task));
}

bool EngineClient::ask_for_more() {
  EventChain described;
  ReadyTasks ready(recycler_, described, engine_.fast_path().generation());
  if (!engine_.backlog().ask(ready)) return false;
  hand_on(ready.lazy(), described);
  return true;
}

LazyTask* EngineClient::finish_in_fast_path(Task& task) {
  destroy_closure(task);
  if (tracer_ != nullptr) {
    task.kind = task.failure == nullptr ? EventKind::task_finished : EventKind::task_failed;
    record(task);
  }
  TaskSource* const source = task.source();
  if (source != uncounted_source_) {
    flush_counts();
    uncounted_source_ = source;
  }
  ++uncounted_;
  EventChain described;
  ReadyTasks ready(recycler_, described, engine_.fast_path().generation());
  source->release(task, ready);
  recycler_.recycle(task);
  // The first task that the fast path admits runs next, unless a more urgent one waits.
  std::span<LazyTask* const> lazy = ready.lazy();
  LazyTask* next = nullptr;
  if (!lazy.empty()) {
    next = lazy.front();
    lazy = lazy.subspan(1);
  } else if (described.size() == 1) {
    auto& only = static_cast<Task&>(*described.oldest());
    if (engine_.fast_path().admits(only)) {
      next = &only;
      described.clear();
    }
  }
  if (!lazy.empty() || !described.empty()) hand_on(lazy, described, &next);
  if (next != nullptr && engine_.fast_path().has_more_urgent(id_, *next)) [[unlikely]] {
    put_back(*next);
    next = nullptr;
  }
  return next;
}

void EngineClient::flush_uncounted() {
  uncounted_source_->count(std::exchange(uncounted_, 0), recycler_);
  uncounted_source_ = nullptr;
}

void EngineClient::report() noexcept {
  if (batch_.empty()) return serve();
  or_stop([this] { report_all(); });
}

void EngineClient::report_all() {
  for (Task* task : batch_) {
    // readers of its outputs must go through the engine
    if (task->failure != nullptr) engine_.fast_path().close();
    finished_.append(*task);
  }
  if (engine_.options().mistake.is(Mistake::successors_first)) {
    complete(batch_);
    engine_.entrance().enter(events_, commands_);
  }
  engine_.entrance().finish(
      finished_, events_,
      [this] {
        if (!engine_.options().mistake.is(Mistake::successors_first)) complete(batch_);
      },
      commands_);
  for (Task* task : batch_) unapplied_.push_back(task);
  batch_.clear();
  carry_out();
}

void EngineClient::serve() noexcept {
  engine_.entrance().enter(events_, commands_);
  or_stop([this] { carry_out(); });
}

void EngineClient::serve_blocking() noexcept {
  engine_.entrance().enter_blocking(events_, commands_);
  or_stop([this] { carry_out(); });
}

void EngineClient::carry_out() {
  for (;;) {
    while (!commands_.empty()) carry_out_once();
    // If another thread serves our events, it also asks the sources; and tasks in this thread's queue come first.
    if (!engine_.needs_more_tasks() || engine_.entrance().something_posted() || has_own_work()) break;
    if (!ask_for_more() || events_.empty()) break;
    engine_.entrance().enter(events_, commands_);
  }
  recycle_applied();
  if (!shared_ && !engine_.callbacks().empty()) run_callbacks();
}

void EngineClient::carry_out_once() {
  for (memory::Copy* copy : commands_.copies) world_.start(*copy);
  for (const WorkerId worker : commands_.launched)
    // the worker that executes commands is awake
    if (index(worker) != id_) world_.wake(WakeTarget::worker(worker));
  if (commands_.stopped) world_.wake(WakeTarget::all());
  if (commands_.quiet) world_.wake(WakeTarget::application());
  for (Task* hold : commands_.granted) hold->source()->granted(*hold);
  if (!commands_.granted.empty() && engine_.deliveries_done(commands_.granted.size()))
    world_.wake(WakeTarget::application());
  cancelled_.swap(commands_.completions);
  commands_.clear();
  if (cancelled_.empty()) return;
  for (Task* task : cancelled_) destroy_closure(*task);
  emptied_.clear();  // a descriptor owned by the program may be destroyed once its task is completed
  for (Task* task : cancelled_)
    if (traits_of(task->role).pooled) emptied_.push_back(task);
  complete(cancelled_);
  for (Task* task : emptied_) recycler_.recycle(*task);
  const std::size_t count = cancelled_.size();
  cancelled_.clear();
  engine_.entrance().enter(events_, commands_);
  commands_.quiet |= engine_.deliveries_done(count);
}

/// May run while another thread uses a shared reporter, so it does not touch the reporter's state.
void EngineClient::run_callbacks() noexcept {
  try {
    if (engine_.callbacks().run()) world_.wake(WakeTarget::application());
  } catch (...) {
    engine_.stop(std::current_exception());
  }
}

void EngineClient::recycle_applied() {
  const std::uint64_t applied = engine_.entrance().applied(id_);
  while (forgotten_ < applied && !unapplied_.empty()) {
    recycler_.recycle(*unapplied_.front());
    unapplied_.pop_front();
    ++forgotten_;
  }
}

}  // namespace fairlead::engine
