// Constructs the parts of the backend and destroys them in the right order; processes completions reported by other
// threads.
#include "backend/cpu/cpu_world.hpp"

#include <thread>
#include <utility>

namespace fairlead::backend {

CpuWorld::CpuWorld(CpuOptions options)
    : options_(std::move(options)),
      workers_(options_.workers, [this] { copies_->stop_user_memory_copies(); }) {}

CpuWorld::~CpuWorld() { stop(); }

void CpuWorld::activate(engine::Engine& engine, graph::DependencyGraph& graph,
                        engine::EngineClient& application) {
  engine_ = &engine;
  addresses_ = Addresses(topology());
  device_memories_.resize(topology().nodes.size());
  const auto reporter = [&](std::size_t number) {
    return std::make_unique<engine::EngineClient>(engine, *this, graph, static_cast<std::uint16_t>(number));
  };
  asynchronous_reporter_ = reporter(workers_.count() + 1);
  asynchronous_reporter_->share();
  copies_ = std::make_unique<CopyDispatcher>(
      CopyDispatcher::World{
          .engine = &engine,
          .now = [this] { return now(); },
          .addresses = &addresses_,
          .transit = options_.transit,
          .name_of = options_.name_of,
          .on_reported =
              [this] { wake(engine::WakeTarget::application()); }},  // it may be waiting for a flush
      reporter(workers_.count()));
  workers_.prepare(engine, *this, graph, application, addresses_);
  set_memory(engine.view().host(), options_.arena);
  for (const auto& part : options_.parts) part->attach(*this);
  copies_->resolve_composite_links();
  workers_.begin();
}

void CpuWorld::stop() {
  workers_.end();
  if (copies_) copies_->stop();
  // The thread that reported the last asynchronous completion, or released the last hold, may still be inside this
  // object.
  while (active_callers_.load() != 0) std::this_thread::yield();
  workers_.release_reporters();
  copies_.reset();
  asynchronous_reporter_.reset();
}

void CpuWorld::start(memory::Copy& copy) {
  if (!workers_.ending()) copies_->start(copy);  // otherwise a prefetch that is no longer needed
}

void CpuWorld::end_asynchronous(Task& task, std::exception_ptr failure) noexcept {
  const CallGuard visit(active_callers_);  // before another thread may report the completion
  const Time end = now();
  task.failure = std::move(failure);
  task.duration = end - task.at;
  task.at = end;
  EventChain ended;
  ended.append(task);
  ended_.push(ended);
  process_remote_events();
}

void CpuWorld::report_device_loss(NodeId device, std::string words) {
  workers_.lose(device);
  NodeLoss* loss = nullptr;
  {
    const std::lock_guard guard(losses_mutex_);
    loss = &losses_.emplace_back();
  }
  loss->node = device;
  loss->driver_error = std::move(words);
  engine_->entrance().post(*loss, EventKind::node_lost, no_id<WorkerId>, now());
  wake(engine::WakeTarget::any_worker());
}

void CpuWorld::process_remote_events() {
  const CallGuard visit(active_callers_);
  if (asynchronous_reporter_ == nullptr)
    return;  // all threads have ended, and this object is about to be
             // destroyed
  const std::thread::id self = std::this_thread::get_id();
  if (serving_thread_.load() == self)
    return;  // a caller further up the stack is serving; it checks again before it
             // returns
  // Sequentially consistent, like Engine::enter(): a thread that finds another one serving has queued its events
  // before the other's last check.
  for (std::thread::id none; has_pending_events() && serving_thread_.compare_exchange_strong(none, self);) {
    process_pending_events();
    serving_thread_.store(std::thread::id());
  }
  asynchronous_reporter_->run_callbacks();
}

void CpuWorld::process_remote_events_and_retry() {
  to_serve_surely_.store(true);
  process_remote_events();
}

bool CpuWorld::has_pending_events() const noexcept {
  return !ended_.empty() || to_serve_surely_.load() || engine_->entrance().something_posted();
}

/// Runs code of the program: destroys closures and answers other ranks. The events that it leaves are served next.
void CpuWorld::process_pending_events() noexcept {
  engine::EngineClient& reporter = *asynchronous_reporter_;
  for (Event* event = ended_.drain(); event != nullptr;) {
    Task& task = static_cast<Task&>(*event);
    event = event->next;  // once reported, the task may be reused
    reporter.finished(task, task.at, task.duration);
    if (reporter.unreported() == engine::EngineClient::most_unreported) reporter.report();
  }
  reporter.report();
  if (to_serve_surely_.exchange(false)) reporter.serve_blocking();
}

}  // namespace fairlead::backend
