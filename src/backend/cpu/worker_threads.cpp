// The loop of a worker: run what is staged, tell in batches, rest when there is nothing.
#include "backend/cpu/worker_threads.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "backend/cpu/affinity.hpp"
#include "base/guarded_thread.hpp"
#include "engine/ended_thread.hpp"
#include "graph/epoch.hpp"

namespace fairlead::backend {

namespace {
constexpr std::size_t told_together = 24;
static_assert(told_together <= engine::Reporter::most_unreported);
constexpr Duration told_after{8'000};      // the first of them at the latest, and at once if it took as long
constexpr Duration patience{1'500};        // how long idle workers may wait for what a batch releases
constexpr unsigned looks_per_glance = 16;  // at the inbox, whose cache line belongs to those who post
constexpr unsigned looks_per_glance_at_queues = 4;  // of tasks that are worth a theft
constexpr unsigned looks_per_clock = 64;
constexpr unsigned looks_with_restraint = 64;  // about two microseconds
constexpr unsigned run_in_a_row = 16;          // tasks of the direct lane, before looking what else there is
constexpr Duration least_between_looks{20'000};  // at what others send, while there are tasks
constexpr unsigned looks_before_yielding = 256;  // in vain, at what others send: some tens of microseconds
constexpr unsigned steps_per_look = 16;  // whether what is waited for has come; a few tasks more do no harm

/// Not before every tiny task: what comes from others would fill the memory while what is there waits for its turn. Who has
/// nothing to do looks all the time (rest()).
template <class Clock>
bool came_between(Lookout& lookout, const Clock& clock, Time& next_look) {
  const Time begin = clock.now();
  if (begin < next_look) return false;
  const bool came = lookout.look();
  const Time end = clock.now();
  next_look = end + std::max(least_between_looks, 4 * (end - begin));
  return came;
}

void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}
}  // namespace

WorkerThreads::WorkerThreads(WorkersSettings settings, std::function<void()> nothing_runs)
    : settings_(std::move(settings)), nothing_runs_(std::move(nothing_runs)) {
  for (std::size_t i = 0; i < settings_.cores + settings_.others; ++i)
    workers_.push_back(std::make_unique<Worker>());
}

WorkerThreads::~WorkerThreads() { end(); }

void WorkerThreads::prepare(engine::Engine& engine, engine::DrivenWorld& world, graph::Graph& graph,
                            engine::Reporter& application, const Addresses& addresses) {
  engine_ = &engine;
  world_ = &world;
  application_ = &application;
  addresses_ = &addresses;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->kind = engine.view().workers()[i].kind;
    if (i != 0)
      workers_[i]->reporter =
          std::make_unique<engine::Reporter>(engine, world, graph, static_cast<std::uint16_t>(i));
  }
}

void WorkerThreads::begin() {
  workers_[0]->thread_number.store(this_thread());
  application_before_ = core_time_of(this_thread());
  for (std::size_t i = 1; i < workers_.size(); ++i) try {
      start_thread(i);
    } catch (const std::system_error& error) {
      throw SystemError(fmt::format(
          "cannot start the thread of worker {} of {}: {}.\n  Use --workers {} or fewer, or raise "
          "the limit (ulimit -u, ulimit -v, pids of the cgroup, threads-max).",
          i + 1, workers_.size(), error.what(), i));
    }
}

void WorkerThreads::end() {
  ending_.store(true);
  wake_all();
  for (;;) {
    std::thread thread;
    {
      const std::lock_guard guard(threads_mutex_);
      for (auto& worker : workers_)
        if (worker->thread.joinable() && !thread.joinable()) thread.swap(worker->thread);
      if (!thread.joinable() && !ended_threads_.empty()) {
        thread = std::move(ended_threads_.back());
        ended_threads_.pop_back();
      }
    }
    if (!thread.joinable()) break;
    thread.join();
  }
}

void WorkerThreads::forget() noexcept {
  for (auto& worker : workers_) worker->reporter.reset();
}

void WorkerThreads::bind(std::size_t worker) {
  if (settings_.processors.empty() || worker >= settings_.cores) return;
  run_only_on(unit_of(worker));
}

std::span<const unsigned> WorkerThreads::unit_of(std::size_t worker) const {
  if (settings_.processors.empty()) return {};
  return std::span(settings_.processors).subspan(worker % settings_.processors.size(), 1);
}

std::optional<CoreTime> WorkerThreads::core_time(WorkerId worker) const {
  auto all = core_time_of(workers_[index(worker)]->thread_number.load());
  if (all && index(worker) == 0 && application_before_) *all = *all - *application_before_;
  return all;
}

void WorkerThreads::launch(WorkerId id, Task& task) {
  if (!workers_[index(id)]->mailbox.put(task)) throw Error("internal: a worker's mailbox is full");
}

void WorkerThreads::lose(NodeId node) noexcept {
  for (const WorkerInfo& worker : engine_->view().workers())
    if (worker.node == node) workers_[index(worker.id)]->lost.store(true);
}

void WorkerThreads::recall(WorkerId id, Task& task) {
  Worker& worker = *workers_[index(id)];
  if (worker.mailbox.take_back(task))
    engine_->entrance().post(task, EventKind::task_returned, id, engine_->view().now());
  else
    engine_->entrance().post(worker.refusal, EventKind::recall_refused, id, engine_->view().now());
}

void WorkerThreads::run_task(Worker& worker, Task& task, engine::Reporter& reporter) {
  const Implementation& implementation = task.codelet->for_kind(worker.kind, task.implementation);
  // What is finished may not wait behind a task that may be long: others need what it releases.
  if (!worker.tiny.contains(implementation) && reporter.unreported() != 0) {
    reporter.report();
    worker.clock_is_fresh = false;
  }
  // Meanwhile nobody else would look out. For a tiny task nobody is woken, which costs as much.
  if (asleep_.load(std::memory_order_relaxed) != 0 && nobody_watches() &&
      !worker.tiny.contains(implementation))
    wake_one_of(settings_.cores);
  const Time start = worker.clock_is_fresh ? worker.last_end : clock_.now();
  TaskContext context{&task, task.worker, world_};
  const bool asynchronous = implementation.asynchronous;
  bool thrown = false, begun = true;
  if (asynchronous) task.at = start;
  addresses_->resolve(task);
  worker.in_body.store(true, std::memory_order_relaxed);
  try {
    if (worker.processor != nullptr) [[unlikely]] {
      begun = worker.processor->run(implementation, context);
    } else if (task.workers_wanted != 0) [[unlikely]] {
      run_together(worker, implementation, context);
    } else {
      implementation.run(implementation.body.get(), context);
    }
  } catch (abi::__forced_unwind&) {  // cannot be stopped: the task is over, and then the thread
    worker.in_body.store(false, std::memory_order_relaxed);
    worker.clock_is_fresh = false;
    if (!asynchronous) {
      task.failure = engine::ended_thread();
      const Time end = clock_.now();
      reporter.finished(task, end, end - start);
    }
    reporter.report();
    throw;
  } catch (...) {
    task.failure = std::current_exception();
    thrown = true;
  }
  worker.in_body.store(false, std::memory_order_relaxed);
  worker.last_end = clock_.now();
  worker.clock_is_fresh = true;
  if (!begun) [[unlikely]] {
    engine_->entrance().post(task, EventKind::task_unbegun, task.worker, worker.last_end);
    return reporter.serve();
  }
  // Somebody else says when it is over, and it may be by now; but for one that did not get as far as its
  // token.
  if (asynchronous && !thrown) return;
  const Duration duration = worker.last_end - start;
  worker.tiny.took(implementation, duration < told_after);
  reporter.finished(task, worker.last_end, duration);
  if (reporter.unreported() == 1) worker.first_unreported = worker.last_end;
  const bool others_wait = idle_.load(std::memory_order_relaxed) > 0;
  const Duration waiting = worker.last_end - worker.first_unreported;
  if (reporter.unreported() >= told_together || duration >= told_after ||
      waiting >= (others_wait ? patience : told_after)) {
    reporter.report();
    worker.clock_is_fresh = false;  // that took time, too
  }
}

bool WorkerThreads::work_once(std::size_t index, engine::Reporter& reporter) {
  Worker& worker = *workers_[index];
  if (looks_out(index)) {
    if (lookout_->has_to_say()) {  // another rank may wait for it
      lookout_->say();
      worker.clock_is_fresh = false;
    }
    if (came_between(*lookout_, clock_, worker.next_look)) worker.clock_is_fresh = false;
  }
  if (Chore* const chore = chore_of(worker)) [[unlikely]] {
    if (reporter.unreported() != 0) reporter.report();
    leave_lane(index, reporter);
    worker.in_body.store(chore->kind() == Chore::Kind::computes, std::memory_order_relaxed);
    chore->do_one();
    worker.in_body.store(false, std::memory_order_relaxed);
    worker.clock_is_fresh = false;
    return true;
  }
  if (Task* task = worker.lost.load(std::memory_order_relaxed) ? nullptr : worker.mailbox.take()) {
    leave_lane(index, reporter);
    run_task(worker, *task, reporter);
    return true;
  }
  if (reporter.unreported() != 0) {
    reporter.report();
    worker.clock_is_fresh = false;
    return true;
  }
  return work_in_lane(index, reporter) || ask_for_more(index, reporter);
}

/// Nothing is left to do: perhaps there is more. Not before the engine has looked at what was handed out last: it
/// says whether the policy is hungry.
bool WorkerThreads::ask_for_more(std::size_t index, engine::Reporter& reporter) {
  if (!engine_->wants_more() || engine_->entrance().something_posted() || !reporter.ask_for_more())
    return false;
  if (reporter.has_events()) reporter.serve();
  workers_[index]->clock_is_fresh = false;
  return true;
}

/// Runs a task of the direct lane; where its data are was written down when it was inserted.
void WorkerThreads::run_body_in_lane(std::size_t index, Task& task) {
  engine::DirectLane& lane = engine_->lane();
  if (task.family->in_graph)
    for (Access& access : task.accesses()) access.address = access.epoch->address;
  task.worker = static_cast<WorkerId>(index);
  TaskContext context{&task, task.worker, world_};
  const Implementation& implementation = task.codelet->for_kind(WorkerKind::cpu);
  lane.begin_body(index, task);
  try {
    implementation.run(implementation.body.get(), context);
  } catch (abi::__forced_unwind&) {
    task.failure = engine::ended_thread();
    engine_->failed_in_lane(task);
    lane.end_body(index);
    throw;
  } catch (...) {
    task.failure = std::current_exception();
    engine_->failed_in_lane(task);
  }
  lane.end_body(index);
}

/// Runs what is in the worker's own queue, or somebody else's, for a while. Tiny tasks are timed together: a
/// look at the clock would cost as much as they do.
bool WorkerThreads::work_in_lane(std::size_t index, engine::Reporter& reporter) {
  Worker& worker = *workers_[index];
  engine::DirectLane& lane = engine_->lane();
  const std::size_t least = worker.restraint.least();
  if (!lane.inside(index) && !lane.something_queued(least)) return false;
  lane.enter(index);
  LazyTask* next = lane.take(index, least);
  if (next == nullptr) {
    leave_lane(index, reporter);
    return false;
  }
  Time begun = worker.clock_is_fresh ? worker.last_end : clock_.now();
  unsigned tiny_ones = 0, run = 0;
  const auto count = [&](unsigned tasks) {
    worker.last_end = clock_.now();
    lane.count(index, tasks, worker.last_end - begun);
    worker.restraint.ran(tasks, worker.last_end - begun);
    if (tiny_ones != 0) {
      reporter.share_time(tasks, begun, worker.last_end);
      if (worker.last_end - begun > told_after * tasks) worker.tiny.clear();
    }
    begun = worker.last_end;
    tiny_ones = 0;
  };
  worker.in_body.store(true, std::memory_order_relaxed);
  const auto hand_on = [&](LazyTask* left) {
    if (left != nullptr) reporter.put_back(*left);
    reporter.count_up();
  };
  const auto run_body = [&](Task& task) {
    try {
      run_body_in_lane(index, task);
    } catch (abi::__forced_unwind&) {  // as in run_task()
      worker.in_body.store(false, std::memory_order_relaxed);
      count(tiny_ones + 1);
      worker.clock_is_fresh = false;
      task.at = worker.last_end;
      hand_on(reporter.over_in_lane(task));
      leave_lane(index, reporter);
      throw;
    }
  };
  do {
    Task& task = reporter.describe(*next);
    next = nullptr;
    if (!lane.lets_in(task) || task.source()->cancelled.load(std::memory_order_relaxed)) [[unlikely]] {
      task.at = begun;
      reporter.add_ready(task);  // the engine decides
    } else if (worker.tiny.may_go_untimed(task.codelet->for_kind(WorkerKind::cpu))) {
      task.at = begun;
      run_body(task);
      ++tiny_ones;
      next = reporter.over_in_lane(task);
    } else {
      // It may take long: nobody should have to wait for it who does not need it.
      if (tiny_ones != 0) count(tiny_ones);
      reporter.count_up();
      run_body(task);
      const Time start = begun;
      count(1);
      task.at = worker.last_end;
      task.duration = worker.last_end - start;
      worker.tiny.took(task.codelet->for_kind(WorkerKind::cpu), task.duration < told_after);
      if (task.failure == nullptr) engine_->note_duration(task, task.worker, task.duration);
      next = reporter.over_in_lane(task);
      if (!worker.mailbox.empty() || engine_->entrance().something_posted()) break;
    }
    if (++run >= run_in_a_row) break;
    if (next == nullptr) next = lane.take(index, worker.restraint.least());
  } while (next != nullptr);
  worker.in_body.store(false, std::memory_order_relaxed);
  if (tiny_ones != 0) count(tiny_ones);
  worker.clock_is_fresh = true;
  hand_on(next);
  if (lane.generation() == 0) leave_lane(index, reporter);
  if (reporter.has_events() || engine_->entrance().something_posted()) {
    reporter.serve();
    worker.clock_is_fresh = false;
  } else if (!engine_->callbacks().empty()) {
    reporter.run_callbacks();
    worker.clock_is_fresh = false;
  }
  return true;
}

/// Somebody may wait until nobody is inside, and then takes it that all that happened there has been told.
void WorkerThreads::leave_lane(std::size_t index, engine::Reporter& reporter) {
  // The engine has what others would not find.
  while (LazyTask* const kept = engine_->lane().take_kept(index))
    reporter.add_ready(reporter.describe(*kept));
  reporter.post();
  if (engine_->lane().leave(index)) reporter.serve_surely();
}

void WorkerThreads::wake(engine::Who who) noexcept {
  using Kind = engine::Who::Kind;
  switch (who.kind) {
    case Kind::worker:
      return workers_[index(who.id)]->sleeper.wake_if_asleep();
    case Kind::any_worker:
      return wake_one_of(workers_.size());
    case Kind::a_core:
      return wake_one_of(settings_.cores);
    case Kind::application:
      if (workers_[0]->sleeper.asleep()) workers_[0]->sleeper.wake();
      return;
    case Kind::everybody:
      return wake_all();
  }
}

void WorkerThreads::wake_all() noexcept {
  for (auto& worker : workers_) worker->sleeper.wake();
}

/// Whoever sleeps looks into all queues before he does: one at a time is woken, and wakes the next if he
/// finds more than he can run.
void WorkerThreads::wake_one_of(std::size_t first_workers) noexcept {
  if (asleep_.load() == 0) return;
  for (std::size_t i = 0; i < first_workers; ++i)
    if (workers_[i]->sleeper.wake_once()) return;
}

Chore* WorkerThreads::chore_of(const Worker& worker) noexcept {
  for (Chore* const chore : worker.chores)
    if (chore->waiting()) return chore;
  return nullptr;
}

/// Nothing to do: look around for a while, serving what others have posted, then sleep until somebody brings
/// work or `stop()` holds.
template <class Stop>
void WorkerThreads::rest(std::size_t index, engine::Reporter& reporter, Stop&& stop) {
  Worker& worker = *workers_[index];
  idle_.fetch_add(1);
  // Who plays an accelerator has no core of his own to look around on.
  const Time until = index < settings_.cores ? clock_.now() + settings_.spin : Time{};
  const auto nothing_here = [&] { return worker.mailbox.empty() && chore_of(worker) == nullptr; };
  bool watches = false;
  unsigned in_vain = 0;
  for (unsigned looks = 1; nothing_here() && !stop(); ++looks) {
    if (index < settings_.cores && looks_out(index)) [[unlikely]] {
      int free = nobody;
      watches = watches || watcher_.compare_exchange_strong(free, static_cast<int>(index));
      in_vain = watches && lookout_->look() ? 0 : in_vain + 1;
      if (in_vain > looks_before_yielding) std::this_thread::yield();  // others may have no core meanwhile
    }
    if (!worker.restraint.some() && looks % looks_per_glance_at_queues == 0 &&
        engine_->lane().something_queued())
      break;
    if (looks % looks_per_glance == 0) {
      if (engine_->entrance().something_posted()) reporter.serve();
      if (engine_->wants_more()) break;
    }
    if (worker.restraint.some() && looks % looks_with_restraint == 0) {
      const std::size_t least = worker.restraint.least();
      worker.restraint.give_up();  // if there is less, it is worth having at the next glance
      if (engine_->lane().something_queued(least)) break;
    }
    if (looks % looks_per_clock == 0 && !(watches && lookout_->wanted()) &&
        (worker.aside.load(std::memory_order_relaxed) || clock_.now() >= until)) {
      // Who sleeps watches nothing, and may be needed as soon as it is wanted again.
      if (watches) watcher_.store(nobody);
      watches = false;
      // Sequentially consistent: whoever posts looks at asleep_ afterwards, we look at the inbox after
      // changing it.
      asleep_.fetch_add(1);
      worker.sleeper.sleep_unless([&] {
        return !nothing_here() || engine_->entrance().something_posted() ||
               engine_->lane().something_queued() || engine_->wants_more() ||
               (index < settings_.cores && nobody_watches()) || stop();
      });
      asleep_.fetch_sub(1);
      // Also with a task in the mailbox, for which another may have woken us: who posted may have counted on us.
      if (engine_->entrance().something_posted()) reporter.serve();
      break;
    }
    pause_briefly();
  }
  if (watches) watcher_.store(nobody);
  idle_.fetch_sub(1);
  worker.clock_is_fresh = false;
}

void WorkerThreads::run(std::size_t index) {
  const auto gone = [this] {
    // Sequentially consistent, and the last that this thread does with the world: see end().
    if (running_.fetch_sub(1) == 1) running_.notify_all();
  };
  try {
    Worker& worker = *workers_[index];
    worker.thread_number.store(this_thread());
    bind(index);
    worker.arrival.kind = EventKind::worker_arrived;
    worker.arrival.worker = static_cast<WorkerId>(index);
    worker.arrival.at = clock_.now();
    worker.reporter->add(worker.arrival);
    worker.reporter->serve();
    const auto over = [this] { return ending_.load() || engine_->stop_reason().stopped(); };
    while (!ending_.load(std::memory_order_relaxed) && !engine_->stop_reason().stopped())
      if (!work_once(index, *worker.reporter)) rest(index, *worker.reporter, over);
  } catch (abi::__forced_unwind&) {  // a body ended the thread: that cannot be stopped
    replace_thread(index);
    gone();
    throw;
  } catch (...) {  // no memory for what the worker notes beside the task
    engine_->stop(std::current_exception());
  }
  gone();
}

void WorkerThreads::start_thread(std::size_t index) {
  running_.fetch_add(1);
  try {
    workers_[index]->thread = guarded_thread(
        [this, index] { run(index); }, [this](std::exception_ptr why) { engine_->stop(std::move(why)); });
  } catch (...) {
    running_.fetch_sub(1);
    throw;
  }
}

void WorkerThreads::replace_thread(std::size_t index) noexcept {
  Worker& worker = *workers_[index];
  const std::lock_guard guard(threads_mutex_);
  if (ending_.load()) return;
  try {
    ended_threads_.push_back(std::move(worker.thread));
    start_thread(index);
  } catch (const std::system_error&) {  // then there is a worker less, and others do what it has left
    worker.arrival.kind = EventKind::worker_left;
    worker.arrival.at = clock_.now();
    worker.reporter->add(worker.arrival);
    worker.reporter->serve();
  } catch (...) {
    engine_->stop(std::current_exception());
  }
}

/// Whoever hears that the run was stopped takes down what tasks use: no body, and no copy of the program's
/// data, may be under way then.
void WorkerThreads::wait_until_nothing_runs() noexcept {
  wake_all();  // whoever stopped the run under the engine's lock has woken nobody
  for (int running = running_.load(); running != 0; running = running_.load()) running_.wait(running);
  nothing_runs_();
}

void WorkerThreads::help(const std::function<bool()>& done, Idle when_idle) {
  Worker& self = *workers_[0];
  // What the program starts elsewhere is none of our business.
  const RunOnlyOnForNow bound(unit_of(0));
  const auto announce = [&](EventKind kind) {
    self.arrival.kind = kind;
    self.arrival.worker = WorkerId{0};
    self.arrival.at = clock_.now();
    application_->add(self.arrival);
    application_->serve_surely();  // the event is reused: it must be over when we go on
  };
  const auto stop = [&] { return done() || engine_->stop_reason().stopped(); };
  self.clock_is_fresh = false;
  const auto leave = [&] {
    if (application_->unreported() != 0) application_->report();
    leave_lane(0, *application_);  // nobody may have to wait until the program comes back
    announce(EventKind::worker_left);
    if (nobody_watches()) wake_one_of(settings_.cores);
  };
  announce(EventKind::worker_arrived);
  try {
    while (!stop()) {
      unsigned steps = 0;
      while (steps < steps_per_look && !engine_->stop_reason().stopped() && work_once(0, *application_))
        ++steps;
      // Only who finds nothing to do rests.
      if (steps == steps_per_look || !self.mailbox.empty() || application_->unreported() != 0) continue;
      if (when_idle == Idle::rests) {
        rest(0, *application_, stop);
      } else if (engine_->lane().something_queued_by(0)) {
        self.restraint.give_up();  // it is not somebody else's that should be left to him
      } else {
        break;
      }
    }
  } catch (abi::__forced_unwind&) {  // a body ended the program's own thread
    leave();
    throw;
  } catch (...) {
    engine_->stop(std::current_exception());
  }
  if (engine_->stop_reason().stopped()) return wait_until_nothing_runs();
  leave();
}

}  // namespace fairlead::backend
