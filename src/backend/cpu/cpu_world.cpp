// Putting the parts together, and taking them apart in the right order; ends of tasks that other threads tell.
#include "backend/cpu/cpu_world.hpp"

#include <thread>
#include <utility>

namespace fairlead::backend {

CpuWorld::CpuWorld(CpuOptions options)
    : options_(std::move(options)),
      workers_(options_.workers, [this] { copies_->stop_those_of_the_program(); }) {}

CpuWorld::~CpuWorld() { end(); }

void CpuWorld::begin(engine::Engine& engine, graph::Graph& graph, engine::Reporter& application) {
  engine_ = &engine;
  addresses_ = Addresses(topology());
  device_memories_.resize(topology().nodes.size());
  const auto reporter = [&](std::size_t number) {
    return std::make_unique<engine::Reporter>(engine, *this, graph, static_cast<std::uint16_t>(number));
  };
  asynchronous_reporter_ = reporter(workers_.count() + 1);
  asynchronous_reporter_->share();
  copies_ = std::make_unique<Copies>(
      Copies::World{.engine = &engine,
                    .now = [this] { return now(); },
                    .addresses = &addresses_,
                    .transit = options_.transit,
                    .name_of = options_.name_of,
                    .told = [this] { wake(engine::Who::application()); }},  // it may wait for a flush
      reporter(workers_.count()));
  workers_.prepare(engine, *this, graph, application, addresses_);
  memory_of(engine.view().host(), options_.arena);
  for (const auto& part : options_.parts) part->begin(*this);
  copies_->complete();
  workers_.begin();
}

void CpuWorld::end() {
  workers_.end();
  if (copies_) copies_->stop();
  // Whoever told of the last asynchronous task's end, or of the last hold's, may not have come back from here yet.
  while (visitors_.load() != 0) std::this_thread::yield();
  workers_.forget();
  copies_.reset();
  asynchronous_reporter_.reset();
}

void CpuWorld::start(memory::Copy& copy) {
  if (!workers_.ending()) copies_->start(copy);  // else a prefetch that nobody will use
}

void CpuWorld::end_asynchronous(Task& task, std::exception_ptr failure) noexcept {
  const Visit visit(visitors_);  // before somebody else may tell of it
  const Time end = now();
  task.failure = std::move(failure);
  task.duration = end - task.at;
  task.at = end;
  EventChain ended;
  ended.append(task);
  ended_.push(ended);
  serve_for_others();
}

void CpuWorld::lose(NodeId device, std::string words) {
  workers_.lose(device);
  NodeLoss* loss = nullptr;
  {
    const std::lock_guard guard(losses_mutex_);
    loss = &losses_.emplace_back();
  }
  loss->node = device;
  loss->words = std::move(words);
  engine_->entrance().post(*loss, EventKind::node_lost, no_id<WorkerId>, now());
  wake(engine::Who::any_worker());
}

void CpuWorld::serve_for_others() {
  const Visit visit(visitors_);
  if (asynchronous_reporter_ == nullptr) return;  // all threads have ended, and what is left goes, too
  const std::thread::id self = std::this_thread::get_id();
  if (serves_.load() == self) return;  // a caller of ours is at it, and looks again before he goes
  // Sequentially consistent, like Engine::enter(): whoever finds another at it has left his before the other's last
  // look.
  for (std::thread::id nobody; something_is_left() && serves_.compare_exchange_strong(nobody, self);) {
    serve_what_is_left();
    serves_.store(std::thread::id());
  }
  asynchronous_reporter_->run_callbacks();
}

void CpuWorld::serve_surely_for_others() {
  to_serve_surely_.store(true);
  serve_for_others();
}

bool CpuWorld::something_is_left() const noexcept {
  return !ended_.empty() || to_serve_surely_.load() || engine_->entrance().something_posted();
}

/// The program's code runs in here: closures are destroyed, and other ranks are answered. What it leaves is next.
void CpuWorld::serve_what_is_left() noexcept {
  engine::Reporter& reporter = *asynchronous_reporter_;
  for (Event* event = ended_.drain(); event != nullptr;) {
    Task& task = static_cast<Task&>(*event);
    event = event->next;  // it may be somebody else's as soon as it is told of
    reporter.finished(task, task.at, task.duration);
    if (reporter.unreported() == engine::Reporter::most_unreported) reporter.report();
  }
  reporter.report();
  if (to_serve_surely_.exchange(false)) reporter.serve_surely();
}

}  // namespace fairlead::backend
