// One codelet with several implementations on simulated workers: a function gives their durations, and runs
// are counted.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "engine/replay.hpp"
#include "engine/runtime_core.hpp"
#include "front/flow/flow_source.hpp"
#include "schedule/policies.hpp"

namespace fairlead::tests {

inline constexpr std::int64_t us = 1'000, ms = 1'000'000;

inline CodeletInfo codelet_for(WorkerKind kind, std::initializer_list<const char*> names) {
  CodeletInfo codelet;
  codelet.name = "gemm";
  codelet.kinds = 0;
  for (const char* name : names) codelet.implement(kind, {nullptr, nullptr, false, name});
  return codelet;
}

struct SimulatedMachine {
  std::size_t workers = 1;
  std::string policy = "eager";
  bool with_device = false;  ///< an accelerator with one worker
  model::KeptDurations kept{};
};

class Simulated {
 public:
  /// The duration of a task of so many bytes, in nanoseconds.
  using Takes = std::function<std::int64_t(unsigned implementation, Bytes bytes, WorkerKind kind)>;

  Simulated(const SimulatedMachine& machine, Takes takes)
      : takes_(std::move(takes)), policy_(machine.policy), world_(sim()), core_(options(machine), world_) {}

  /// Tasks that use a datum of this size, all at once or one after the other. Returns the number of
  /// runs of each implementation.
  std::array<int, 4> run(const CodeletInfo& codelet, Bytes bytes, int tasks, bool in_turn = false,
                         Workers workers = 1) {
    auto& datum = data_[bytes];
    if (datum == nullptr) {
      datum = std::make_unique<engine::RegisteredDatum>();
      core_.register_datum(*datum, {.bytes = bytes, .home = NodeId{0}});
      datum->ever_written = true;
    }
    ran_ = {};
    front::FlowSource flow(core_);
    const auto kept_alive = std::make_shared<const CodeletInfo>(codelet);
    const front::Submission::Use use{datum.get(), in_turn ? AccessMode::read_write : AccessMode::read};
    for (int i = 0; i < tasks; ++i) {
      front::Submission submission;
      submission.codelet = &codelet;
      submission.uses = std::span(&use, 1);
      submission.workers = workers;
      submission.file = "choice";
      flow.submit(submission, kept_alive);
    }
    flow.wait();
    return ran_;
  }
  engine::Engine& engine() { return core_.engine(); }
  engine::ReplayResult replay() {
    return engine::replay(engine().log_head(), schedule::make_policy(policy_),
                          engine().journal().log().words());
  }

 private:
  backend::SimOptions sim() {
    backend::SimOptions options;
    options.duration = [this](const Task& task, WorkerId worker) {
      const Bytes bytes = core_.engine().view().bytes(task.accesses().front().datum);
      return Duration(
          takes_(task.implementation, bytes, core_.engine().view().workers()[index(worker)].kind));
    };
    options.on_end = [this](Task& task, WorkerId, bool) { ++ran_[task.implementation]; };
    return options;
  }
  static engine::CoreOptions options(const SimulatedMachine& machine) {
    Topology topology = out_of_core_topology(machine.workers, Bytes{64} << 20, 1e9, Duration(us));
    if (machine.with_device) {
      const auto device = static_cast<NodeId>(topology.nodes.size());
      topology.nodes.push_back({.name = "device", .role = NodeRole::cache, .capacity = Bytes{64} << 20});
      for (std::size_t i = 0; i < index(device); ++i)
        topology.links.push_back({.name = "wire", .first = static_cast<NodeId>(i), .second = device});
      topology.workers.push_back({WorkerKind::emulated, device});
    }
    engine::CoreOptions options{
        .topology = topology, .policy = schedule::make_policy(machine.policy), .engine = {}};
    options.engine.policy_name = machine.policy;
    options.engine.check_invariants = true;
    options.engine.log = true;
    options.engine.durations = machine.kept;
    return options;
  }

  Takes takes_;
  std::string policy_;
  std::array<int, 4> ran_{};
  std::map<Bytes, std::unique_ptr<engine::RegisteredDatum>> data_;
  backend::SimWorld world_;
  engine::RuntimeCore core_;
};

}  // namespace fairlead::tests
