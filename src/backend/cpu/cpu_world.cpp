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
  // Whoever ended the last asynchronous task may not have come back from here yet.
  while (visitors_.load() != 0) std::this_thread::yield();
  workers_.forget();
  copies_.reset();
  asynchronous_reporter_.reset();
}

void CpuWorld::start(memory::Copy& copy) {
  if (!workers_.ending()) copies_->start(copy);  // else a prefetch that nobody will use
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
