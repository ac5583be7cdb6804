// Simulates a script on a model of the machine: the real engine on the simulated backend, with the topology, sizes and
// estimates of the run. Other traffic on the links is not modelled.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "front/what_if/simulation_input.hpp"
#include "policy/what_if_simulation.hpp"

namespace fairlead::front {

/// Runs no bodies and copies no data; it only uses some threads.
class CandidateSimulator final : public Simulator {
 public:
  enum class Threads : bool {
    real,      // this many simulations run at the same time
    modelled,  // simulations run one after another; the cost is counted as if they ran in parallel
  };
  /// `script` and `stops` must outlive this object. Any thread may set `stops`: simulations then end soon without a
  /// result.
  CandidateSimulator(const SimulationInput& script, const std::atomic<bool>& stops, std::size_t threads,
                     Threads are)
      : script_(script), stops_(stops), threads_(threads), are_(are) {}

  using Simulator::simulate;
  std::vector<SimulationOutcome> simulate(std::span<const std::string> policies, Duration enough,
                                          Duration patience) override;

  /// Simulated tasks, as a measure of the elapsed time. Each play() adds the tasks of its longest simulation or the
  /// average per thread, whichever is larger.
  std::uint64_t tasks_simulated() const noexcept { return tasks_played_; }

 private:
  const SimulationInput& script_;
  const std::atomic<bool>& stops_;
  const std::size_t threads_;
  const Threads are_;
  std::uint64_t tasks_played_ = 0;
};

}  // namespace fairlead::front
