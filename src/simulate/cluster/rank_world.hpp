// The world of one of several simulated ranks: a simulated machine, whose program waits together with those of the
// other ranks. What comes from the network is served as soon as it is there.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "simulate/cluster/turns.hpp"

namespace fairlead::simulate {

class RankWorld final : public engine::DrivenWorld, private backend::Timeline::Member {
 public:
  /// `options.timeline` is that of the turns. `most_read`: bytes of a datum that somebody may look at, though no datum
  /// has an address here; they mean nothing.
  RankWorld(backend::SimOptions options, Turns& turns, std::size_t program, Bytes most_read);
  RankWorld(const RankWorld&) = delete;
  RankWorld& operator=(const RankWorld&) = delete;
  ~RankWorld() override { turns_.timeline().leave(number_); }

  void begin(engine::Engine& engine, graph::Graph& graph, engine::Reporter& application) override;
  void end() override { world_.end(); }
  void help(const std::function<bool()>& done) override;
  bool must_be_told() const noexcept override { return true; }
  /// Whoever calls may be what the engine is just carrying out.
  void serve_for_others() override { serve_soon(); }
  void serve_surely_for_others() override { serve_soon(); }
  void end_asynchronous(Task& task, std::exception_ptr failure) noexcept override {
    world_.end_asynchronous(task, std::move(failure));
  }
  Time now() noexcept override { return world_.now(); }
  std::size_t reporters() const noexcept override { return world_.reporters(); }

  void launch(WorkerId id, Task& task) override { world_.launch(id, task); }
  void recall(WorkerId id, Task& task) override { world_.recall(id, task); }
  void gathered(Task& task, std::span<const WorkerId> workers) override { world_.gathered(task, workers); }
  void dissolved(std::span<const WorkerId> workers) override { world_.dissolved(workers); }
  void start(memory::Copy& copy) override { world_.start(copy); }
  /// Says which node it is, and nothing else.
  void* address_of(const memory::Location& at) const noexcept override {
    return const_cast<std::byte*>(anywhere_.data()) + index(at.node);
  }
  NodeId node_at(const void* address) const noexcept {
    return static_cast<NodeId>(static_cast<const std::byte*>(address) - anywhere_.data());
  }
  void carry(Bytes bytes, NodeId from, NodeId to, std::function<void()> then) {
    world_.carry(bytes, from, to, std::move(then));
  }
  void wake(engine::Who who) noexcept override;
  bool in_body(WorkerId worker) const noexcept override { return world_.in_body(worker); }

  std::uint64_t events() const noexcept { return world_.events(); }

 private:
  Time next() const noexcept override { return to_serve_ ? turns_.timeline().now() : Time::max(); }
  bool step() override;
  void serve_soon() noexcept;

  Turns& turns_;
  const std::size_t program_;
  backend::SimWorld world_;
  const std::uint32_t number_;  // in the timeline; the simulated machine has another
  std::vector<std::byte> anywhere_;
  engine::Engine* engine_ = nullptr;
  engine::Reporter* application_ = nullptr;
  bool to_serve_ = false, stopped_ = false;
};

}  // namespace fairlead::simulate
