// The world of a runtime: threads of this machine, or virtual time.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>

#include "backend/cpu/cpu_world.hpp"
#include "backend/sim/sim_world.hpp"

namespace fairlead::front {

class RunningWorld {
 public:
  explicit RunningWorld(std::unique_ptr<backend::CpuWorld> cores) : cores_(std::move(cores)) {}
  explicit RunningWorld(std::unique_ptr<backend::SimWorld> simulated) : simulated_(std::move(simulated)) {}

  engine::RunnableWorld& get() const noexcept {
    return cores_ ? static_cast<engine::RunnableWorld&>(*cores_) : *simulated_;
  }
  /// Null: time is real.
  backend::SimWorld* simulated() const noexcept { return simulated_.get(); }
  /// Threads that it has started.
  std::size_t threads() const noexcept { return cores_ ? cores_->threads() : 0; }

 private:
  std::unique_ptr<backend::CpuWorld> cores_;  // one of the two
  std::unique_ptr<backend::SimWorld> simulated_;
};

}  // namespace fairlead::front
