// Stand-ins for the program in a replay: sources, generators and a what-if simulator that do nothing, since their
// effects are among the logged events.
#pragma once
#include <cstddef>
#include <span>

#include "data/generator.hpp"
#include "data/task.hpp"
#include "data/task_source.hpp"
#include "policy/what_if_simulation.hpp"

namespace fairlead::engine {

class NullSource final : public TaskSource {
 public:
  void release(Task&, ReadyTasks&) override {}
};

/// The values of generated data, which a replay does not use.
class NullGenerator final : public data::Generator {
 public:
  void make(std::byte*, Bytes, Bytes) const override {}
};

/// The results of the run's what-if simulations are among its events.
class LoggedSimulation final : public WhatIfSimulation {
 public:
  explicit LoggedSimulation(std::size_t idle_cores) : idle_cores_(idle_cores) {}
  std::size_t idle_cores() const noexcept override { return idle_cores_; }

 private:
  void capture(std::span<Task* const>, Evaluation) override {}

  std::size_t idle_cores_;
};

}  // namespace fairlead::engine
