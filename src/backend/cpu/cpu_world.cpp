// The loop of a worker: run what is staged, tell in batches, rest when there is nothing.
#include "backend/cpu/cpu_world.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "backend/cpu/affinity.hpp"
#include "graph/epoch.hpp"

namespace fairlead::backend {

namespace {
constexpr std::size_t told_together = 24;
static_assert(told_together <= engine::Reporter::most_unreported);
constexpr Duration told_after{8'000};      // the first of them at the latest, and at once if it took as long
constexpr Duration patience{1'500};        // how long idle workers may wait for what a batch releases
constexpr unsigned looks_per_glance = 16;  // at the inbox, whose cache line belongs to those who post
constexpr unsigned looks_per_clock = 64;
constexpr unsigned looks_while_patient = 64;  // about two microseconds
constexpr std::size_t enough_to_steal = 16;   // of tiny tasks: each theft costs their owner as much as one
constexpr unsigned run_in_a_row = 16;         // tasks of the direct lane, before looking what else there is
constexpr unsigned steps_per_look = 16;  // whether what is waited for has come; a few tasks more do no harm

void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}
}  // namespace

std::exception_ptr ended_thread() {
  return std::make_exception_ptr(
      UsageError("its body ended the thread that ran it, by pthread_exit, or because that was cancelled"));
}

CpuWorld::CpuWorld(CpuOptions options) : options_(std::move(options)) {
  for (std::size_t i = 0; i < options_.workers + options_.device_workers; ++i)
    workers_.push_back(std::make_unique<Worker>());
}

CpuWorld::~CpuWorld() { end(); }

void CpuWorld::begin(engine::Engine& engine, graph::Graph& graph, engine::Reporter& application) {
  engine_ = &engine;
  application_ = &application;
  const auto id = [](std::size_t i) { return static_cast<std::uint16_t>(i); };
  const std::size_t all = workers_.size();
  copies_reporter_ = std::make_unique<engine::Reporter>(engine, *this, graph, id(all));
  asynchronous_reporter_ = std::make_unique<engine::Reporter>(engine, *this, graph, id(all + 1));
  copies_reporter_->share();
  asynchronous_reporter_->share();
  if (options_.spill.possible)
    disk_ = std::make_unique<IoThreads>(
        options_.disk, [this] { return now(); }, [this](const IoResult& result) { disk_done(result); });
  if (!options_.devices.empty()) {
    devices_ = std::make_unique<Devices>(
        options_.devices,
        Devices::Surroundings{
            .topology = &engine.memory().topology(),
            .routes = &engine.memory().routes(),
            .ram = options_.arena,
            .clock = [this] { return now(); },
            .submit_to_disk =
                [this](IoRequest request) {
                  request.descriptor = options_.spill.descriptor;
                  disk_->submit(request);
                },
            .generate = [this](const Generation& generation) { generate(generation); },
            .copy_done = [this](memory::Copy& copy, int error) { copy_done(copy, error); },
            .wake = [this](WorkerId worker) { workers_[index(worker)]->sleeper.wake_if_asleep(); },
            .failed = [this](std::exception_ptr why) { engine_->stop(std::move(why)); }});
  }
  for (std::size_t i = 0; i < all; ++i) {
    workers_[i]->kind = engine.view().workers()[i].kind;
    if (devices_) workers_[i]->speed = devices_->speed_of(engine.view().workers()[i].node);
  }
  for (std::size_t i = 1; i < all; ++i)
    workers_[i]->reporter = std::make_unique<engine::Reporter>(engine, *this, graph, id(i));
  for (std::size_t i = 1; i < all; ++i) try {
      start_thread(i);
    } catch (const std::system_error& error) {
      throw SystemError(fmt::format(
          "cannot start the thread of worker {} of {}: {}.\n  Use --workers {} or fewer, or raise "
          "the limit (ulimit -u, ulimit -v, pids of the cgroup, threads-max).",
          i + 1, all, error.what(), i));
    }
}

void CpuWorld::end() {
  ending_.store(true);
  for (auto& worker : workers_) worker->sleeper.wake();
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
  if (devices_) devices_->stop();  // first: wires give the disk work, but no longer the other way round
  disk_.reset();
  devices_.reset();
  // Whoever ended the last asynchronous task may not have come back from here yet.
  while (visitors_.load() != 0) std::this_thread::yield();
  for (auto& worker : workers_) worker->reporter.reset();
  copies_reporter_.reset();
  asynchronous_reporter_.reset();
}

void CpuWorld::bind(std::size_t worker) {
  if (options_.processors.empty() || worker >= options_.workers) return;
  run_only_on(unit_of(worker));
}

std::span<const unsigned> CpuWorld::unit_of(std::size_t worker) const {
  if (options_.processors.empty()) return {};
  return std::span(options_.processors).subspan(worker % options_.processors.size(), 1);
}

void CpuWorld::launch(WorkerId id, Task& task) {
  if (!workers_[index(id)]->mailbox.put(task)) throw Error("internal: a worker's mailbox is full");
}

void CpuWorld::recall(WorkerId id, Task& task) {
  Worker& worker = *workers_[index(id)];
  if (worker.mailbox.take_back(task))
    engine_->entrance().post(task, EventKind::task_returned, id, engine_->view().now());
  else
    engine_->entrance().post(worker.refusal, EventKind::recall_refused, id, engine_->view().now());
}

void CpuWorld::run_task(Worker& worker, Task& task, engine::Reporter& reporter) {
  const Implementation& implementation = task.codelet->for_kind(worker.kind, task.implementation);
  // What is finished may not wait behind a task that may be long: others need what it releases.
  if (!worker.tiny.contains(implementation) && reporter.unreported() != 0) {
    reporter.report();
    worker.clock_is_fresh = false;
  }
  const Time start = worker.clock_is_fresh ? worker.last_end : now();
  TaskContext context{&task, task.worker, this};
  const bool asynchronous = implementation.asynchronous;
  bool thrown = false;
  if (asynchronous) task.at = start;
  worker.in_body.store(true, std::memory_order_relaxed);
  try {
    if (task.workers_wanted != 0) [[unlikely]] {
      run_together(worker, implementation, context);
    } else {
      implementation.run(implementation.body.get(), context);
    }
  } catch (abi::__forced_unwind&) {  // cannot be stopped: the task is over, and then the thread
    worker.in_body.store(false, std::memory_order_relaxed);
    worker.clock_is_fresh = false;
    if (!asynchronous) {
      task.failure = ended_thread();
      const Time end = now();
      reporter.finished(task, end, end - start);
    }
    reporter.report();
    throw;
  } catch (...) {
    task.failure = std::current_exception();
    thrown = true;
  }
  worker.in_body.store(false, std::memory_order_relaxed);
  worker.last_end = now();
  if (worker.speed < 1) {  // a slower processor would still be at it
    const auto longer = static_cast<double>((worker.last_end - start).count()) * (1 / worker.speed - 1);
    std::this_thread::sleep_for(Duration(static_cast<std::int64_t>(longer)));
    worker.last_end = now();
  }
  worker.clock_is_fresh = true;
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

bool CpuWorld::work_once(std::size_t index, engine::Reporter& reporter) {
  Worker& worker = *workers_[index];
  if (has_bytes_to_move(index)) {
    if (reporter.unreported() != 0) reporter.report();
    devices_->play_one(static_cast<WorkerId>(index));
    worker.clock_is_fresh = false;
    return true;
  }
  if (has_data_to_make(index)) [[unlikely]] {
    if (reporter.unreported() != 0) reporter.report();
    leave_lane(index, reporter);
    make_data(worker);
    worker.clock_is_fresh = false;
    return true;
  }
  if (Task* task = worker.mailbox.take()) {
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

/// Nothing is left to do: perhaps there is more.
bool CpuWorld::ask_for_more(std::size_t index, engine::Reporter& reporter) {
  if (!engine_->wants_more() || !reporter.ask_for_more()) return false;
  if (reporter.has_events()) reporter.serve();
  workers_[index]->clock_is_fresh = false;
  return true;
}

/// Runs a task of the direct lane; where its data are was written down when it was inserted.
void CpuWorld::run_body_in_lane(std::size_t index, Task& task) {
  engine::DirectLane& lane = engine_->lane();
  if (task.family->in_graph)
    for (Access& access : task.accesses()) access.address = access.epoch->address;
  task.worker = static_cast<WorkerId>(index);
  TaskContext context{&task, task.worker, this};
  const Implementation& implementation = task.codelet->for_kind(WorkerKind::cpu);
  lane.begin_body(index, task);
  try {
    implementation.run(implementation.body.get(), context);
  } catch (abi::__forced_unwind&) {
    task.failure = ended_thread();
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
bool CpuWorld::work_in_lane(std::size_t index, engine::Reporter& reporter) {
  Worker& worker = *workers_[index];
  engine::DirectLane& lane = engine_->lane();
  const std::size_t least = worker.patient ? enough_to_steal : 1;
  if (!lane.inside(index) && !lane.something_queued(least)) return false;
  lane.enter(index);
  LazyTask* next = lane.take(index, least);
  if (next == nullptr) {
    leave_lane(index, reporter);
    return false;
  }
  Time begun = worker.clock_is_fresh ? worker.last_end : now();
  unsigned tiny_ones = 0, run = 0;
  const auto count = [&](unsigned tasks) {
    worker.last_end = now();
    lane.count(index, tasks, worker.last_end - begun);
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
    if (next == nullptr) next = lane.take(index, enough_to_steal);
  } while (next != nullptr);
  worker.in_body.store(false, std::memory_order_relaxed);
  worker.patient = tiny_ones != 0;
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
void CpuWorld::leave_lane(std::size_t index, engine::Reporter& reporter) {
  reporter.post();
  if (engine_->lane().leave(index)) reporter.serve_surely();
}

/// Whoever sleeps looks into all queues before he does: one at a time is woken, and wakes the next if he
/// finds more than he can run.
void CpuWorld::lane_filled() noexcept { wake_one_of(workers_.size()); }

void CpuWorld::wake_one_of(std::size_t first_workers) noexcept {
  if (asleep_.load() == 0) return;
  for (std::size_t i = 0; i < first_workers; ++i)
    if (workers_[i]->sleeper.wake_once()) return;
}

bool CpuWorld::has_bytes_to_move(std::size_t worker) const {
  return worker >= options_.workers && devices_ && devices_->waiting(static_cast<WorkerId>(worker));
}

/// Nothing to do: look around for a while, serving what others have posted, then sleep until somebody brings
/// work or `stop()` holds.
template <class Stop>
void CpuWorld::rest(std::size_t index, engine::Reporter& reporter, Stop&& stop) {
  Worker& worker = *workers_[index];
  idle_.fetch_add(1);
  // Who plays an accelerator has no core of his own to look around on.
  const Time until = index < options_.workers ? now() + options_.spin : Time{};
  const auto nothing_here = [&] {
    return worker.mailbox.empty() && !has_bytes_to_move(index) && !has_data_to_make(index);
  };
  for (unsigned looks = 1; nothing_here() && !stop(); ++looks) {
    if (looks % looks_per_glance == 0) {
      if (engine_->entrance().something_posted()) reporter.serve();
      if (!worker.patient && engine_->lane().something_queued()) break;
      if (engine_->wants_more()) break;
    }
    if (worker.patient && looks % looks_while_patient == 0) {
      worker.patient = false;  // if there is less, it is worth having at the next glance
      if (engine_->lane().something_queued(enough_to_steal)) break;
    }
    if (looks % looks_per_clock == 0 && (worker.aside.load(std::memory_order_relaxed) || now() >= until)) {
      // Sequentially consistent: whoever posts looks at asleep_ afterwards, we look at the inbox after
      // changing it.
      asleep_.fetch_add(1);
      worker.sleeper.sleep_unless([&] {
        return !nothing_here() || engine_->entrance().something_posted() ||
               engine_->lane().something_queued() || engine_->wants_more() || stop();
      });
      asleep_.fetch_sub(1);
      if (nothing_here() && engine_->entrance().something_posted()) reporter.serve();
      break;
    }
    pause_briefly();
  }
  idle_.fetch_sub(1);
  worker.clock_is_fresh = false;
}

void CpuWorld::run(std::size_t index) {
  const auto gone = [this] {
    // Sequentially consistent, and the last that this thread does with the world: see end().
    if (running_.fetch_sub(1) == 1) running_.notify_all();
  };
  try {
    Worker& worker = *workers_[index];
    bind(index);
    worker.arrival.kind = EventKind::worker_arrived;
    worker.arrival.worker = static_cast<WorkerId>(index);
    worker.arrival.at = now();
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

void CpuWorld::start_thread(std::size_t index) {
  running_.fetch_add(1);
  try {
    workers_[index]->thread = std::thread([this, index] { run(index); });
  } catch (...) {
    running_.fetch_sub(1);
    throw;
  }
}

void CpuWorld::replace_thread(std::size_t index) noexcept {
  Worker& worker = *workers_[index];
  const std::lock_guard guard(threads_mutex_);
  if (ending_.load()) return;
  try {
    ended_threads_.push_back(std::move(worker.thread));
    start_thread(index);
  } catch (const std::system_error&) {  // then there is a worker less, and others do what it has left
    worker.arrival.kind = EventKind::worker_left;
    worker.arrival.at = now();
    worker.reporter->add(worker.arrival);
    worker.reporter->serve();
  } catch (...) {
    engine_->stop(std::current_exception());
  }
}

/// Whoever hears that the run was stopped takes down what tasks use: no body, and no copy of the program's
/// data, may be under way then.
void CpuWorld::wait_until_nothing_runs() noexcept {
  stopped();  // whoever stopped the run under the engine's lock has woken nobody
  for (int running = running_.load(); running != 0; running = running_.load()) running_.wait(running);
  if (devices_) devices_->stop();
}

void CpuWorld::stopped() noexcept {
  for (auto& worker : workers_) worker->sleeper.wake();
}

void CpuWorld::help(const std::function<bool()>& done) {
  Worker& self = *workers_[0];
  // What the program starts elsewhere is none of our business.
  const RunOnlyOnForNow bound(unit_of(0));
  const auto announce = [&](EventKind kind) {
    self.arrival.kind = kind;
    self.arrival.worker = WorkerId{0};
    self.arrival.at = now();
    application_->add(self.arrival);
    application_->serve_surely();  // the event is reused: it must be over when we go on
  };
  const auto stop = [&] { return done() || engine_->stop_reason().stopped(); };
  self.clock_is_fresh = false;
  const auto leave = [&] {
    if (application_->unreported() != 0) application_->report();
    leave_lane(0, *application_);  // nobody may have to wait until the program comes back
    announce(EventKind::worker_left);
  };
  announce(EventKind::worker_arrived);
  try {
    while (!stop()) {
      for (unsigned steps = 0;
           steps < steps_per_look && !engine_->stop_reason().stopped() && work_once(0, *application_);
           ++steps) {
      }
      if (self.mailbox.empty() && application_->unreported() == 0) rest(0, *application_, stop);
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

void CpuWorld::nudge() noexcept {
  if (workers_[0]->sleeper.asleep()) workers_[0]->sleeper.wake();
}

void CpuWorld::hurry() noexcept {
  if (disk_) disk_->lift_cap();
  if (devices_) devices_->lift_caps();
}

void CpuWorld::start(memory::Copy& copy) {
  using Nodes = OutOfCoreNodes;
  if (ending_.load()) return;  // a prefetch that nobody will use
  copy.at = now();
  const auto at_device = [](const memory::Replica& replica) { return replica.node > Nodes::ram; };
  if (devices_ && (at_device(*copy.from) || at_device(*copy.to))) return devices_->start(copy);
  if (copy.generator != nullptr)
    return generate({.copy = &copy, .to = options_.arena + copy.to->block.offset, .bytes = copy.bytes});
  const bool read = copy.from->node == Nodes::disk;
  const memory::Replica& in_memory = read ? *copy.to : *copy.from;
  const memory::Replica& on_disk = read ? *copy.from : *copy.to;
  if (in_memory.node != Nodes::ram || on_disk.node != Nodes::disk || disk_ == nullptr)
    throw Error("internal: a copy between nodes that this backend does not join");
  disk_->submit(IoRequest{.descriptor = options_.spill.descriptor,
                          .offset = on_disk.block.offset,
                          .memory = options_.arena + in_memory.block.offset,
                          .bytes = in_memory.block.bytes,
                          .direction = read ? IoDirection::read : IoDirection::write,
                          .token = &copy});
}

void CpuWorld::generate(const Generation& generation) {
  generations_.submit(generation);
  wake_for_data();
}

/// Who is awake looks for data to make before he sleeps; a core's worker who sleeps is woken.
void CpuWorld::wake_for_data() noexcept { wake_one_of(options_.workers); }

void CpuWorld::make_data(Worker& worker) {
  const std::optional<Generation> generation = generations_.take();
  if (!generation) return;  // another worker was faster
  if (!generations_.empty()) wake_for_data();
  worker.in_body.store(true, std::memory_order_relaxed);
  const int error = generations_.make(*generation);
  worker.in_body.store(false, std::memory_order_relaxed);
  if (generation->token != nullptr) {
    Devices::generated(generation->token, error);
  } else {
    copy_done(*generation->copy, error);
  }
}

void CpuWorld::disk_done(const IoResult& result) noexcept {
  if (result.error_number == ECANCELED) {  // the runtime is being destroyed
    if (Devices::is_ours(result)) devices_->disk_done(result);
    return;
  }
  (result.direction == IoDirection::read ? bytes_read_ : bytes_written_)
      .fetch_add(result.bytes, std::memory_order_relaxed);
  try {
    if (result.error_number == EBADMSG) {
      const std::lock_guard guard(copies_mutex_);
      altered_.push_back(result.wrong_at);
    }
    if (!Devices::is_ours(result))
      return copy_done(*static_cast<memory::Copy*>(result.token), result.error_number);
    devices_->disk_done(result);
  } catch (...) {  // the next piece could not be begun
    engine_->stop(std::current_exception());
  }
}

void CpuWorld::copy_done(memory::Copy& copy, int error_number) noexcept {
  const Time end = now();
  copy.duration = end - copy.at;
  copy.at = end;
  copy.error_number = error_number;
  try {
    if (error_number != 0 && copy.failure == nullptr) copy.failure = failure_of(copy, error_number);
  } catch (...) {  // no memory for the text: then that is the failure
    copy.failure = std::current_exception();
  }
  copy.kind = error_number == 0 ? EventKind::copy_finished : EventKind::copy_failed;
  {
    const std::lock_guard guard(copies_mutex_);
    copies_reporter_->add(copy);
    copies_reporter_->serve();
  }
  copies_reporter_->run_callbacks();
  nudge();  // the application may wait for a flush
}

/// What the system's word for the error would not tell: null if there is nothing.
std::exception_ptr CpuWorld::failure_of(const memory::Copy& copy, int error_number) {
  const bool from_disk = copy.from->node == OutOfCoreNodes::disk;
  if (options_.spill.missing != nullptr && (from_disk || copy.to->node == OutOfCoreNodes::disk))
    return options_.spill.missing;
  if (error_number != EBADMSG || !from_disk) return nullptr;
  const memory::Range block = copy.from->block;
  Bytes place = block.offset;
  {
    const std::lock_guard guard(copies_mutex_);
    const auto found = std::ranges::find_if(
        altered_, [&](Bytes at) { return at >= block.offset && at - block.offset < block.bytes; });
    if (found != altered_.end()) {
      place = *found;
      altered_.erase(found);
    }
  }
  const std::string name = options_.spill.name_of ? options_.spill.name_of(copy.datum)
                                                  : fmt::format("datum {}", index(copy.datum));
  return std::make_exception_ptr(SystemError(fmt::format(
      "{} came back from the disk otherwise than it was written: its checksum is wrong at byte {} of the "
      "spill file in \"{}\" (byte {} of {}).\n"
      "  The run was stopped, since its results could be wrong. If that happens again, test this disk and "
      "the machine's memory, or name another disk by --disk-directory.",
      name, place, options_.spill.place, place - block.offset, copy.bytes)));
}

void CpuWorld::end_asynchronous(Task& task, std::exception_ptr failure) noexcept {
  visitors_.fetch_add(1);
  const Time end = now();
  task.failure = std::move(failure);
  asynchronous_lock_.lock();
  asynchronous_reporter_->finished(task, end, end - task.at);
  asynchronous_reporter_->report();
  asynchronous_lock_.unlock();
  serve_for_others();
  visitors_.fetch_sub(1);
}

void CpuWorld::serve_for_others() {
  if (asynchronous_reporter_ == nullptr) return;  // all threads have ended, and what is left goes, too
  // Sequentially consistent, like Engine::enter(): whoever finds it locked has posted before the holder's
  // last look. The holder may be a caller of ours.
  while (engine_->entrance().something_posted() && asynchronous_lock_.try_lock()) {
    asynchronous_reporter_->serve();
    asynchronous_lock_.unlock();
  }
  asynchronous_reporter_->run_callbacks();
}

void CpuWorld::serve_surely_for_others() {
  if (asynchronous_reporter_ == nullptr) return;
  asynchronous_lock_.lock();
  asynchronous_reporter_->serve_surely();
  asynchronous_lock_.unlock();
  serve_for_others();
}

}  // namespace fairlead::backend
