// The world of one simulated rank: a simulated machine whose program waits in the virtual time of all ranks. Messages
// from the network are processed on arrival.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "simulate/cluster/rank_scheduler.hpp"

namespace fairlead::simulate {

class RankWorld final : public engine::RunnableWorld, private backend::Timeline::Member {
 public:
  /// `options.timeline` must be that of `turns`. `most_read`: bytes that may be read at a datum's address, although no
  /// datum has memory here; their values are meaningless.
  RankWorld(backend::SimOptions options, RankScheduler& turns, std::size_t program, Bytes most_read);
  RankWorld(const RankWorld&) = delete;
  RankWorld& operator=(const RankWorld&) = delete;
  ~RankWorld() override { turns_.timeline().leave(number_); }

  void activate(engine::Engine& engine, graph::DependencyGraph& graph,
                engine::EngineClient& application) override;
  void stop() override { world_.stop(); }
  void wait(const std::function<bool()>& done) override;
  bool needs_wake_up() const noexcept override { return true; }
  /// Deferred, since the engine may be executing a command of the caller.
  void process_remote_events() override { serve_soon(); }
  void process_remote_events_and_retry() override { serve_soon(); }
  void end_asynchronous(Task& task, std::exception_ptr failure) noexcept override {
    world_.end_asynchronous(task, std::move(failure));
  }
  Time now() noexcept override { return world_.now(); }
  std::size_t reporters() const noexcept override { return world_.reporters(); }

  void launch(WorkerId id, Task& task) override { world_.launch(id, task); }
  void recall(WorkerId id, Task& task) override { world_.recall(id, task); }
  void span_formed(Task& task, std::span<const WorkerId> workers) override {
    world_.span_formed(task, workers);
  }
  void span_released(std::span<const WorkerId> workers) override { world_.span_released(workers); }
  void start(memory::Copy& copy) override { world_.start(copy); }
  /// Encodes the node and nothing else.
  void* address_of(const memory::Location& at) const noexcept override {
    return const_cast<std::byte*>(address_base_.data()) + index(at.node);
  }
  NodeId node_at(const void* address) const noexcept {
    return static_cast<NodeId>(static_cast<const std::byte*>(address) - address_base_.data());
  }
  void transfer(Bytes bytes, NodeId from, NodeId to, std::function<void()> then) {
    world_.carry(bytes, from, to, std::move(then));
  }
  void wake(engine::WakeTarget who) noexcept override;
  bool in_body(WorkerId worker) const noexcept override { return world_.in_body(worker); }

  std::uint64_t events() const noexcept { return world_.events(); }

 private:
  Time next() const noexcept override { return to_serve_ ? turns_.timeline().now() : Time::max(); }
  bool step() override;
  void serve_soon() noexcept;

  RankScheduler& turns_;
  const std::size_t program_;
  backend::SimWorld world_;
  const std::uint32_t number_;  // in the timeline; the simulated machine has another number
  std::vector<std::byte> address_base_;
  engine::Engine* engine_ = nullptr;
  engine::EngineClient* application_ = nullptr;
  bool to_serve_ = false, stopped_ = false;
};

}  // namespace fairlead::simulate
