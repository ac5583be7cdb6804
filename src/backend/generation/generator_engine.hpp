// Generated data: initial values that cores compute between two tasks instead of reading them. A waiting generation
// holds a reservation or a staging buffer already, so a generating worker never waits (docs/memory.md, rule 4).
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include "backend/backend.hpp"

namespace fairlead::backend {

/// The transfer engine of the generating link, from the store to host memory.
class GeneratorEngine final : public TransferEngine, public Chore {
 public:
  /// `wake`: wakes a worker that runs chores.
  explicit GeneratorEngine(std::function<void()> wake) : Chore(Kind::compute), wake_(std::move(wake)) {}

  void start(const Transfer& load) override;
  /// Called after the workers have ended.
  void stop() noexcept override;
  void run_one() noexcept override;

 private:
  const std::function<void()> wake_;
  std::mutex mutex_;  // guards the queue
  std::deque<Transfer> queue_;
};

/// The backend named "generated": always present; adds the generating links.
class GeneratedBackend final : public Backend {
 public:
  std::string_view kind() const noexcept override { return "generated"; }
  std::unique_ptr<BackendInstance> make() const override;
};

}  // namespace fairlead::backend
