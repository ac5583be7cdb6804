// Queues generations and runs them as chores of the cores.
#include "backend/generation/generator_engine.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

namespace fairlead::backend {

void GeneratorEngine::start(const Transfer& load) {
  {
    const std::lock_guard guard(mutex_);
    queue_.push_back(load);
    set_waiting(queue_.size());
  }
  wake_();
}

void GeneratorEngine::stop() noexcept {
  const std::lock_guard guard(mutex_);
  queue_.clear();
  set_waiting(0);
}

void GeneratorEngine::run_one() noexcept {
  Transfer load;
  {
    const std::lock_guard guard(mutex_);
    if (queue_.empty()) return;  // another worker took it
    load = queue_.front();
    queue_.pop_front();
    set_waiting(queue_.size());
  }
  if (waiting()) wake_();
  TransferResult outcome;
  try {
    load.copy->generator->make(load.to.host, load.first, load.bytes);
  } catch (...) {
    outcome = {.error_number = EIO, .description = {}, .failure = std::current_exception()};
  }
  load.receiver->completed(load.token, outcome);
}

namespace {

constexpr double bytes_per_second_guess = 0.5e9;  // of each core, for estimates

class GeneratedPart final : public BackendInstance {
 public:
  void add_links(Topology& topology) override {
    const std::size_t cores = topology.workers_on(topology.host());
    add_generator(topology, bytes_per_second_guess * static_cast<double>(cores));
  }
  void attach(BackendHost& site) override {
    const Topology& topology = site.topology();
    generation_.emplace([&site] { site.wake(engine::WakeTarget::any_cpu_worker()); });
    for (std::size_t i = 0; i < topology.links.size(); ++i)
      if (topology.links[i].is_generator && topology.links[i].physical_links.empty())
        site.set_transfer_engine(static_cast<LinkId>(i), *generation_);
    for (std::size_t i = 0; i < topology.workers.size(); ++i)
      if (topology.has_kind(topology.workers[i].node, MemoryKind::host))
        site.add_chore(static_cast<WorkerId>(i), *generation_);
  }

 private:
  std::optional<GeneratorEngine> generation_;
};

}  // namespace

std::unique_ptr<BackendInstance> GeneratedBackend::make() const { return std::make_unique<GeneratedPart>(); }

}  // namespace fairlead::backend
