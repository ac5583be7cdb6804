// See generation.hpp.
#include "backend/generation/generation.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

namespace fairlead::backend {

void Generation::start(const Load& load) {
  {
    const std::lock_guard guard(mutex_);
    queue_.push_back(load);
    set_waiting(queue_.size());
  }
  wake_();
}

void Generation::stop() noexcept {
  const std::lock_guard guard(mutex_);
  queue_.clear();
  set_waiting(0);
}

void Generation::do_one() noexcept {
  Load load;
  {
    const std::lock_guard guard(mutex_);
    if (queue_.empty()) return;  // another worker was faster
    load = queue_.front();
    queue_.pop_front();
    set_waiting(queue_.size());
  }
  if (waiting()) wake_();
  Outcome outcome;
  try {
    load.copy->generator->make(load.to.host, load.first, load.bytes);
  } catch (...) {
    outcome = {.error_number = EIO, .words = {}, .failure = std::current_exception()};
  }
  load.receiver->over(load.token, outcome);
}

namespace {

constexpr double bytes_per_second_guess = 0.5e9;  // of each core, for estimates

class GeneratedPart final : public Part {
 public:
  void add_to(Topology& topology) override {
    const std::size_t cores = topology.workers_on(topology.host());
    add_generator(topology, bytes_per_second_guess * static_cast<double>(cores));
  }
  void begin(Site& site) override {
    const Topology& topology = site.topology();
    generation_.emplace([&site] { site.wake(engine::Who::a_core()); });
    for (std::size_t i = 0; i < topology.links.size(); ++i)
      if (topology.links[i].computes && topology.links[i].legs.empty())
        site.carry(static_cast<LinkId>(i), *generation_);
    for (std::size_t i = 0; i < topology.workers.size(); ++i)
      if (topology.is(topology.workers[i].node, MemoryKind::host))
        site.give(static_cast<WorkerId>(i), *generation_);
  }

 private:
  std::optional<Generation> generation_;
};

}  // namespace

std::unique_ptr<Part> GeneratedBackend::make() const { return std::make_unique<GeneratedPart>(); }

}  // namespace fairlead::backend
