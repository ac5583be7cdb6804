// The main loop of a worker: run staged tasks, report in batches, spin and sleep when there is no work.
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
constexpr std::size_t report_batch = 24;
static_assert(report_batch <= engine::EngineClient::most_unreported);
constexpr Duration report_after{8'000};  // after the first of them at the latest; at once if a task took
                                         // this long
constexpr Duration patience{1'500};      // how long idle workers may wait for the successors of a batch
constexpr unsigned spins_per_inbox_check =
    16;  // checks per look at the inbox, whose cache line belongs to the
         // posting threads
constexpr unsigned spins_per_queue_check = 4;  // checks per look at the queues, for tasks worth a steal
constexpr unsigned looks_per_clock = 64;
constexpr unsigned looks_with_restraint = 64;    // about two microseconds
constexpr unsigned run_in_a_row = 16;            // tasks of the fast path, before checking for other work
constexpr Duration least_between_looks{20'000};  // between polls of the network, while there are tasks
constexpr unsigned looks_before_yielding = 256;  // unsuccessful polls of the network: some tens of
                                                 // microseconds
constexpr unsigned steps_per_look = 16;  // steps per check of help()'s condition; a few tasks more do no harm

/// Not before every tiny task: received data would fill the memory while local tasks wait. An idle worker polls
/// continuously: see rest().
template <class Clock>
bool came_between(Poller& lookout, const Clock& clock, Time& next_look) {
  const Time begin = clock.now();
  if (begin < next_look) return false;
  const bool came = lookout.poll();
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

void WorkerThreads::prepare(engine::Engine& engine, engine::RunnableWorld& world,
                            graph::DependencyGraph& graph, engine::EngineClient& application,
                            const Addresses& addresses) {
  engine_ = &engine;
  world_ = &world;
  application_ = &application;
  addresses_ = &addresses;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->kind = engine.view().workers()[i].kind;
    if (i != 0)
      workers_[i]->reporter =
          std::make_unique<engine::EngineClient>(engine, world, graph, static_cast<std::uint16_t>(i));
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

void WorkerThreads::release_reporters() noexcept {
  for (auto& worker : workers_) worker->reporter.reset();
}

void WorkerThreads::bind(std::size_t worker) {
  if (settings_.processors.empty() || worker >= settings_.cores) return;
  bind_thread(unit_of(worker));
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

void WorkerThreads::run_task(Worker& worker, Task& task, engine::EngineClient& reporter) {
  const Implementation& implementation = task.codelet->for_kind(worker.kind, task.implementation);
  // Finished tasks are not held back behind a task that may be long: other workers need their successors.
  if (!worker.tiny.contains(implementation) && reporter.unreported() != 0) {
    reporter.report();
    worker.clock_is_fresh = false;
  }
  // Otherwise the network would not be polled during the body. Not for a tiny task, since the wake-up costs as much.
  if (asleep_.load(std::memory_order_relaxed) != 0 && needs_network_poller() &&
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
      run_span(worker, implementation, context);
    } else {
      implementation.run(implementation.body.get(), context);
    }
  } catch (abi::__forced_unwind&) {  // must be rethrown: the task ends, and then the thread
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
    engine_->entrance().post(task, EventKind::task_reclaimed, task.worker, worker.last_end);
    return reporter.serve();
  }
  // An asynchronous task is completed elsewhere, possibly already, unless its body threw before it took its
  // Completion.
  if (asynchronous && !thrown) return;
  const Duration duration = worker.last_end - start;
  worker.tiny.took(implementation, duration < report_after);
  reporter.finished(task, worker.last_end, duration);
  if (reporter.unreported() == 1) worker.first_unreported = worker.last_end;
  const bool others_wait = idle_.load(std::memory_order_relaxed) > 0;
  const Duration waiting = worker.last_end - worker.first_unreported;
  if (reporter.unreported() >= report_batch || duration >= report_after ||
      waiting >= (others_wait ? patience : report_after)) {
    reporter.report();
    worker.clock_is_fresh = false;  // reporting took time
  }
}

bool WorkerThreads::work_once(std::size_t index, engine::EngineClient& reporter) {
  Worker& worker = *workers_[index];
  if (polls_network(index)) {
    if (lookout_->has_pending()) {  // another rank may wait for the message
      lookout_->send_pending();
      worker.clock_is_fresh = false;
    }
    if (came_between(*lookout_, clock_, worker.next_look)) worker.clock_is_fresh = false;
  }
  if (Chore* const chore = chore_of(worker)) [[unlikely]] {
    if (reporter.unreported() != 0) reporter.report();
    leave_fast_path(index, reporter);
    worker.in_body.store(chore->kind() == Chore::Kind::compute, std::memory_order_relaxed);
    chore->run_one();
    worker.in_body.store(false, std::memory_order_relaxed);
    worker.clock_is_fresh = false;
    return true;
  }
  if (Task* task = worker.lost.load(std::memory_order_relaxed) ? nullptr : worker.mailbox.take()) {
    leave_fast_path(index, reporter);
    run_task(worker, *task, reporter);
    return true;
  }
  if (reporter.unreported() != 0) {
    reporter.report();
    worker.clock_is_fresh = false;
    return true;
  }
  return run_fast_path(index, reporter) || request_more_tasks(index, reporter);
}

/// Out of work: requests more from the sources. Only after the engine has processed all posted events, which
/// determine whether the policy is hungry.
bool WorkerThreads::request_more_tasks(std::size_t index, engine::EngineClient& reporter) {
  if (!engine_->needs_more_tasks() || engine_->entrance().something_posted() || !reporter.ask_for_more())
    return false;
  if (reporter.has_events()) reporter.serve();
  workers_[index]->clock_is_fresh = false;
  return true;
}

/// Runs a task of the fast path; the locations of its data were stored at its insertion.
void WorkerThreads::run_fast_path_body(std::size_t index, Task& task) {
  engine::FastPath& fast_path = engine_->fast_path();
  if (task.family->in_graph)
    for (Access& access : task.accesses()) access.address = access.epoch->address;
  task.worker = static_cast<WorkerId>(index);
  TaskContext context{&task, task.worker, world_};
  const Implementation& implementation = task.codelet->for_kind(WorkerKind::cpu);
  fast_path.begin_body(index, task);
  try {
    implementation.run(implementation.body.get(), context);
  } catch (abi::__forced_unwind&) {
    task.failure = engine::ended_thread();
    engine_->failed_in_fast_path(task);
    fast_path.end_body(index);
    throw;
  } catch (...) {
    task.failure = std::current_exception();
    engine_->failed_in_fast_path(task);
  }
  fast_path.end_body(index);
}

/// Runs tasks of the worker's own queue, or stolen ones, for a while. Tiny tasks are timed together: reading the
/// clock would cost as much as they do.
bool WorkerThreads::run_fast_path(std::size_t index, engine::EngineClient& reporter) {
  Worker& worker = *workers_[index];
  engine::FastPath& fast_path = engine_->fast_path();
  const std::size_t least = worker.restraint.minimum();
  if (!fast_path.inside(index) && !fast_path.has_queued(least)) return false;
  fast_path.enter(index);
  LazyTask* next = fast_path.take(index, least);
  if (next == nullptr) {
    leave_fast_path(index, reporter);
    return false;
  }
  Time begun = worker.clock_is_fresh ? worker.last_end : clock_.now();
  unsigned tiny_ones = 0, run = 0;
  const auto count = [&](unsigned tasks) {
    worker.last_end = clock_.now();
    fast_path.count(index, tasks, worker.last_end - begun);
    worker.restraint.ran(tasks, worker.last_end - begun);
    if (tiny_ones != 0) {
      reporter.share_time(tasks, begun, worker.last_end);
      if (worker.last_end - begun > report_after * tasks) worker.tiny.clear();
    }
    begun = worker.last_end;
    tiny_ones = 0;
  };
  worker.in_body.store(true, std::memory_order_relaxed);
  const auto start_joined = [&](LazyTask* left) {
    if (left != nullptr) reporter.put_back(*left);
    reporter.flush_counts();
  };
  const auto run_body = [&](Task& task) {
    try {
      run_fast_path_body(index, task);
    } catch (abi::__forced_unwind&) {  // as in run_task()
      worker.in_body.store(false, std::memory_order_relaxed);
      count(tiny_ones + 1);
      worker.clock_is_fresh = false;
      task.at = worker.last_end;
      start_joined(reporter.finish_in_fast_path(task));
      leave_fast_path(index, reporter);
      throw;
    }
  };
  do {
    Task& task = reporter.describe(*next);
    next = nullptr;
    if (!fast_path.admits(task) || task.source()->cancelled.load(std::memory_order_relaxed)) [[unlikely]] {
      task.at = begun;
      reporter.add_ready(task);  // left to the engine
    } else if (worker.tiny.may_go_untimed(task.codelet->for_kind(WorkerKind::cpu))) {
      task.at = begun;
      run_body(task);
      ++tiny_ones;
      next = reporter.finish_in_fast_path(task);
    } else {
      // It may take long, so the finished tasks are counted first: other threads may wait for them.
      if (tiny_ones != 0) count(tiny_ones);
      reporter.flush_counts();
      run_body(task);
      const Time start = begun;
      count(1);
      task.at = worker.last_end;
      task.duration = worker.last_end - start;
      worker.tiny.took(task.codelet->for_kind(WorkerKind::cpu), task.duration < report_after);
      if (task.failure == nullptr) engine_->note_duration(task, task.worker, task.duration);
      next = reporter.finish_in_fast_path(task);
      if (!worker.mailbox.empty() || engine_->entrance().something_posted()) break;
    }
    if (++run >= run_in_a_row) break;
    if (next == nullptr) next = fast_path.take(index, worker.restraint.minimum());
  } while (next != nullptr);
  worker.in_body.store(false, std::memory_order_relaxed);
  if (tiny_ones != 0) count(tiny_ones);
  worker.clock_is_fresh = true;
  start_joined(next);
  if (fast_path.generation() == 0) leave_fast_path(index, reporter);
  if (reporter.has_events() || engine_->entrance().something_posted()) {
    reporter.serve();
    worker.clock_is_fresh = false;
  } else if (!engine_->callbacks().empty()) {
    reporter.run_callbacks();
    worker.clock_is_fresh = false;
  }
  return true;
}

/// A thread may wait until no worker is inside the fast path, and then assumes that all events of the fast path have
/// been reported.
void WorkerThreads::leave_fast_path(std::size_t index, engine::EngineClient& reporter) {
  // Other workers would not find these tasks, so the engine gets them.
  while (LazyTask* const kept = engine_->fast_path().take_kept(index))
    reporter.add_ready(reporter.describe(*kept));
  reporter.post();
  if (engine_->fast_path().leave(index)) reporter.serve_blocking();
}

void WorkerThreads::wake(engine::WakeTarget who) noexcept {
  using Kind = engine::WakeTarget::Kind;
  switch (who.kind) {
    case Kind::worker:
      return workers_[index(who.id)]->sleeper.wake_if_asleep();
    case Kind::any_worker:
      return wake_one_of(workers_.size());
    case Kind::any_cpu_worker:
      return wake_one_of(settings_.cores);
    case Kind::application:
      if (workers_[0]->sleeper.asleep()) workers_[0]->sleeper.wake();
      return;
    case Kind::all:
      return wake_all();
  }
}

void WorkerThreads::wake_all() noexcept {
  for (auto& worker : workers_) worker->sleeper.wake();
}

/// A worker checks all queues before it sleeps. So one at a time is woken, and it wakes the next if it finds more
/// than it can run.
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

/// Without work: spins for a while, processing events that others post, then sleeps until there is work or `stop()`
/// is true.
template <class Stop>
void WorkerThreads::wait_for_work(std::size_t index, engine::EngineClient& reporter, Stop&& stop) {
  Worker& worker = *workers_[index];
  idle_.fetch_add(1);
  // The thread of an emulated accelerator has no core of its own for spinning.
  const Time until = index < settings_.cores ? clock_.now() + settings_.spin : Time{};
  const auto nothing_here = [&] { return worker.mailbox.empty() && chore_of(worker) == nullptr; };
  bool watches = false;
  unsigned in_vain = 0;
  for (unsigned looks = 1; nothing_here() && !stop(); ++looks) {
    if (index < settings_.cores && polls_network(index)) [[unlikely]] {
      int free = no_watcher;
      watches = watches || watcher_.compare_exchange_strong(free, static_cast<int>(index));
      in_vain = watches && lookout_->poll() ? 0 : in_vain + 1;
      if (in_vain > looks_before_yielding) std::this_thread::yield();  // other threads may lack a core
    }
    if (!worker.restraint.is_active() && looks % spins_per_queue_check == 0 &&
        engine_->fast_path().has_queued())
      break;
    if (looks % spins_per_inbox_check == 0) {
      if (engine_->entrance().something_posted()) reporter.serve();
      if (engine_->needs_more_tasks()) break;
    }
    if (worker.restraint.is_active() && looks % looks_with_restraint == 0) {
      const std::size_t least = worker.restraint.minimum();
      worker.restraint.reset();  // if there are fewer, they are worth stealing at the next check
      if (engine_->fast_path().has_queued(least)) break;
    }
    if (looks % looks_per_clock == 0 && !(watches && lookout_->is_active()) &&
        (worker.in_span.load(std::memory_order_relaxed) || clock_.now() >= until)) {
      // A sleeping thread does not poll, and polling may be needed at any time: gives up the role first.
      if (watches) watcher_.store(no_watcher);
      watches = false;
      // Sequentially consistent: a posting thread reads asleep_ after posting; this thread reads the inbox after
      // changing asleep_.
      asleep_.fetch_add(1);
      worker.sleeper.sleep_unless([&] {
        return !nothing_here() || engine_->entrance().something_posted() ||
               engine_->fast_path().has_queued() || engine_->needs_more_tasks() ||
               (index < settings_.cores && needs_network_poller()) || stop();
      });
      asleep_.fetch_sub(1);
      // Also with a task in the mailbox, for which another thread may have sent the wake-up: the posting thread may
      // rely on this one.
      if (engine_->entrance().something_posted()) reporter.serve();
      break;
    }
    pause_briefly();
  }
  if (watches) watcher_.store(no_watcher);
  idle_.fetch_sub(1);
  worker.clock_is_fresh = false;
}

void WorkerThreads::run(std::size_t index) {
  const auto gone = [this] {
    // Sequentially consistent, and the last access of this thread to the object: see end().
    if (running_.fetch_sub(1) == 1) running_.notify_all();
  };
  try {
    Worker& worker = *workers_[index];
    worker.thread_number.store(this_thread());
    bind(index);
    worker.arrival.kind = EventKind::worker_available;
    worker.arrival.worker = static_cast<WorkerId>(index);
    worker.arrival.at = clock_.now();
    worker.reporter->add(worker.arrival);
    worker.reporter->serve();
    const auto over = [this] { return ending_.load() || engine_->stop_reason().stopped(); };
    while (!ending_.load(std::memory_order_relaxed) && !engine_->stop_reason().stopped())
      if (!work_once(index, *worker.reporter)) wait_for_work(index, *worker.reporter, over);
  } catch (abi::__forced_unwind&) {  // a body ended the thread: must be rethrown
    replace_thread(index);
    gone();
    throw;
  } catch (...) {  // no memory for the worker's own bookkeeping
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
  } catch (const std::system_error&) {  // one worker fewer; the others run its tasks
    worker.arrival.kind = EventKind::worker_unavailable;
    worker.arrival.at = clock_.now();
    worker.reporter->add(worker.arrival);
    worker.reporter->serve();
  } catch (...) {
    engine_->stop(std::current_exception());
  }
}

/// After a stopped run, the waiting thread destroys what tasks use; so no body and no copy of the program's data may
/// be running.
void WorkerThreads::wait_until_nothing_runs() noexcept {
  wake_all();  // a stop under the engine's lock wakes no worker
  for (int running = running_.load(); running != 0; running = running_.load()) running_.wait(running);
  nothing_runs_();
}

void WorkerThreads::help(const std::function<bool()>& done, Idle when_idle) {
  Worker& self = *workers_[0];
  // Threads that the program starts elsewhere keep their own affinity.
  const ScopedAffinity bound(unit_of(0));
  const auto announce = [&](EventKind kind) {
    self.arrival.kind = kind;
    self.arrival.worker = WorkerId{0};
    self.arrival.at = clock_.now();
    application_->add(self.arrival);
    application_->serve_blocking();  // the event is reused, so it must be processed before this returns
  };
  const auto stop = [&] { return done() || engine_->stop_reason().stopped(); };
  self.clock_is_fresh = false;
  const auto leave = [&] {
    if (application_->unreported() != 0) application_->report();
    leave_fast_path(0, *application_);  // no other thread may have to wait until the program calls again
    announce(EventKind::worker_unavailable);
    if (needs_network_poller()) wake_one_of(settings_.cores);
  };
  announce(EventKind::worker_available);
  try {
    while (!stop()) {
      unsigned steps = 0;
      while (steps < steps_per_look && !engine_->stop_reason().stopped() && work_once(0, *application_))
        ++steps;
      // Idle only if no step found work.
      if (steps == steps_per_look || !self.mailbox.empty() || application_->unreported() != 0) continue;
      if (when_idle == Idle::wait) {
        wait_for_work(0, *application_, stop);
      } else if (engine_->fast_path().something_queued_by(0)) {
        self.restraint.reset();  // its own queue is not left to other workers
      } else {
        break;
      }
    }
  } catch (abi::__forced_unwind&) {  // a body ended the application's thread
    leave();
    throw;
  } catch (...) {
    engine_->stop(std::current_exception());
  }
  if (engine_->stop_reason().stopped()) return wait_until_nothing_runs();
  leave();
}

}  // namespace fairlead::backend
