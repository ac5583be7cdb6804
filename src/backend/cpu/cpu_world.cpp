// The loop of a worker: run what is staged, tell in batches, rest when there is nothing.
#include "backend/cpu/cpu_world.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <pthread.h>
#include <sched.h>

#include <algorithm>

namespace fairlead::backend {

namespace {
constexpr std::size_t told_together = 24;
constexpr Duration told_after{8'000};      // the first of them at the latest, and at once if it took as long
constexpr Duration patience{1'500};        // how long idle workers may wait for what a batch releases
constexpr unsigned looks_per_glance = 16;  // at the inbox, whose cache line belongs to those who post
constexpr unsigned looks_per_clock = 64;
constexpr unsigned steps_per_look = 16;  // whether what is waited for has come; a few tasks more do no harm

void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}
}  // namespace

CpuWorld::CpuWorld(CpuOptions options) : options_(std::move(options)) {
  for (std::size_t i = 0; i < options_.workers; ++i) workers_.push_back(std::make_unique<Worker>());
}

CpuWorld::~CpuWorld() { end(); }

void CpuWorld::begin(engine::Engine& engine, graph::Graph& graph, engine::Reporter& application) {
  engine_ = &engine;
  application_ = &application;
  const auto id = [](std::size_t i) { return static_cast<std::uint16_t>(i); };
  disk_reporter_ = std::make_unique<engine::Reporter>(engine, *this, graph, id(options_.workers));
  asynchronous_reporter_ = std::make_unique<engine::Reporter>(engine, *this, graph, id(options_.workers + 1));
  if (options_.spill_descriptor >= 0)
    disk_ = std::make_unique<IoThreads>(
        options_.disk, [this] { return now(); }, [this](const IoResult& result) { disk_done(result); });
  for (std::size_t i = 1; i < options_.workers; ++i)
    workers_[i]->reporter = std::make_unique<engine::Reporter>(engine, *this, graph, id(i));
  for (std::size_t i = 1; i < options_.workers; ++i) workers_[i]->thread = std::thread([this, i] { run(i); });
}

void CpuWorld::end() {
  ending_.store(true);
  for (auto& worker : workers_) worker->sleeper.wake();
  for (auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
  disk_.reset();
  // Whoever ended the last asynchronous task may not have come back from here yet.
  { const std::lock_guard guard(asynchronous_mutex_); }
  for (auto& worker : workers_) worker->reporter.reset();
  disk_reporter_.reset();
  asynchronous_reporter_.reset();
}

void CpuWorld::bind(std::size_t worker) {
  if (options_.processors.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(options_.processors[worker % options_.processors.size()], &set);
  pthread_setaffinity_np(pthread_self(), sizeof set,
                         &set);  // a wish: without it the run is slower, not wrong
}

void CpuWorld::launch(WorkerId id, Task& task) {
  if (!workers_[index(id)]->mailbox.put(task)) throw Error("internal: a worker's mailbox is full");
}

void CpuWorld::recall(WorkerId id, Task& task) {
  Worker& worker = *workers_[index(id)];
  const bool returned = worker.mailbox.take_back(task);
  Event& answer = returned ? task : worker.refusal;
  answer.kind = returned ? EventKind::task_returned : EventKind::recall_refused;
  answer.worker = id;
  answer.at = engine_->now();
  EventChain chain;
  chain.append(answer);
  engine_->post(chain);
}

bool CpuWorld::is_tiny(const Worker& worker, const Task& task) const noexcept {
  return std::ranges::find(worker.tiny, task.codelet) != worker.tiny.end();
}

void CpuWorld::run_task(Worker& worker, Task& task, engine::Reporter& reporter) {
  // What is finished may not wait behind a task that may be long: others need what it releases.
  const bool tiny = is_tiny(worker, task);
  if (!tiny && reporter.unreported() != 0) {
    reporter.report();
    worker.clock_is_fresh = false;
  }
  const Time start = worker.clock_is_fresh ? worker.last_end : now();
  TaskContext context{&task, task.worker, this};
  const bool asynchronous = task.codelet->asynchronous;
  if (asynchronous) task.at = start;
  try {
    task.codelet->run(*task.codelet, context);
  } catch (...) {
    task.failure = std::current_exception();
  }
  worker.last_end = now();
  worker.clock_is_fresh = true;
  if (asynchronous) return;  // somebody else says when it is over; it may be by now
  const Duration duration = worker.last_end - start;
  if (tiny != (duration < told_after)) {
    if (tiny) {
      *std::ranges::find(worker.tiny, task.codelet) = nullptr;
    } else {
      worker.tiny[worker.next_tiny++ % worker.tiny.size()] = task.codelet;
    }
  }
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
  if (Task* task = worker.mailbox.take()) {
    run_task(worker, *task, reporter);
    return true;
  }
  if (reporter.unreported() != 0) {
    reporter.report();
    worker.clock_is_fresh = false;
    return true;
  }
  return false;
}

/// Nothing to do: look around for a while, serving what others have posted, then sleep until somebody brings
/// work or `stop()` holds.
template <class Stop>
void CpuWorld::rest(Worker& worker, engine::Reporter& reporter, Stop&& stop) {
  idle_.fetch_add(1);
  const Time until = now() + options_.spin;
  for (unsigned looks = 1; worker.mailbox.empty() && !stop(); ++looks) {
    if (looks % looks_per_glance == 0 && engine_->something_posted()) reporter.serve();
    if (looks % looks_per_clock == 0 && now() >= until) {
      // Sequentially consistent: whoever posts looks at asleep_ afterwards, we look at the inbox after
      // changing it.
      asleep_.fetch_add(1);
      worker.sleeper.sleep_unless(
          [&] { return !worker.mailbox.empty() || engine_->something_posted() || stop(); });
      asleep_.fetch_sub(1);
      if (worker.mailbox.empty() && engine_->something_posted()) reporter.serve();
      break;
    }
    pause_briefly();
  }
  idle_.fetch_sub(1);
  worker.clock_is_fresh = false;
}

void CpuWorld::run(std::size_t index) {
  Worker& worker = *workers_[index];
  bind(index);
  worker.arrival.kind = EventKind::worker_arrived;
  worker.arrival.worker = static_cast<WorkerId>(index);
  worker.arrival.at = now();
  worker.reporter->add(worker.arrival);
  worker.reporter->serve();
  while (!ending_.load(std::memory_order_relaxed))
    if (!work_once(index, *worker.reporter))
      rest(worker, *worker.reporter, [this] { return ending_.load(); });
}

/// The application's thread is bound only while it works here: what it starts elsewhere is none of our
/// business.
class CpuWorld::BoundForNow {
 public:
  explicit BoundForNow(CpuWorld& world) : bound_(!world.options_.processors.empty()) {
    if (!bound_ || pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) != 0) return;
    world.bind(0);
  }
  ~BoundForNow() {
    if (bound_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
  BoundForNow(const BoundForNow&) = delete;
  BoundForNow& operator=(const BoundForNow&) = delete;

 private:
  bool bound_;
  cpu_set_t before_{};
};

void CpuWorld::help(const std::function<bool()>& done) {
  Worker& self = *workers_[0];
  const BoundForNow bound(*this);
  const auto announce = [&](EventKind kind) {
    self.arrival.kind = kind;
    self.arrival.worker = WorkerId{0};
    self.arrival.at = now();
    application_->add(self.arrival);
    application_->serve_surely();  // the event is reused: it must be over when we go on
  };
  const auto stop = [&] { return done() || engine_->stopped(); };
  self.clock_is_fresh = false;
  announce(EventKind::worker_arrived);
  while (!stop()) {
    for (unsigned steps = 0; steps < steps_per_look && work_once(0, *application_); ++steps) {
    }
    if (self.mailbox.empty() && application_->unreported() == 0) rest(self, *application_, stop);
  }
  if (application_->unreported() != 0) application_->report();
  announce(EventKind::worker_left);
}

void CpuWorld::nudge() noexcept {
  if (workers_[0]->sleeper.asleep()) workers_[0]->sleeper.wake();
}

void CpuWorld::hurry() noexcept {
  if (disk_) disk_->lift_cap();
}

void CpuWorld::start(memory::Copy& copy) {
  using Nodes = OutOfCoreNodes;
  const bool read = copy.from->node == Nodes::disk;
  const memory::Replica& in_memory = read ? *copy.to : *copy.from;
  const memory::Replica& on_disk = read ? *copy.from : *copy.to;
  if (in_memory.node != Nodes::ram || on_disk.node != Nodes::disk || disk_ == nullptr)
    throw Error("internal: a copy between nodes that this backend does not join");
  copy.at = now();
  disk_->submit(IoRequest{.descriptor = options_.spill_descriptor,
                          .offset = on_disk.block.offset,
                          .memory = options_.arena + in_memory.block.offset,
                          .bytes = in_memory.block.bytes,
                          .direction = read ? IoDirection::read : IoDirection::write,
                          .token = &copy});
}

void CpuWorld::disk_done(const IoResult& result) {
  auto& copy = *static_cast<memory::Copy*>(result.token);
  if (result.error_number == ECANCELED) return;  // the runtime is being destroyed
  (result.direction == IoDirection::read ? bytes_read_ : bytes_written_)
      .fetch_add(result.bytes, std::memory_order_relaxed);
  const Time end = now();
  copy.duration = end - copy.at;
  copy.at = end;
  copy.error_number = result.error_number;
  copy.kind = result.error_number == 0 ? EventKind::copy_finished : EventKind::copy_failed;
  {
    const std::lock_guard guard(disk_mutex_);
    disk_reporter_->add(copy);
    disk_reporter_->serve();
  }
  nudge();  // the application may wait for a flush
}

void CpuWorld::end_asynchronous(Task& task, std::exception_ptr failure) {
  const std::lock_guard guard(asynchronous_mutex_);
  const Time end = now();
  task.failure = std::move(failure);
  asynchronous_reporter_->finished(task, end, end - task.at);
  asynchronous_reporter_->report();
}

}  // namespace fairlead::backend
