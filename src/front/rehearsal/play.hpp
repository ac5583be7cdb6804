// A script is played on a simulated copy of the machine: the engine of real runs on the simulated world, with the topology,
// the sizes and the estimates that the engine of the run had. Not known: what links are used for besides.
#pragma once
#include <atomic>
#include <cstdint>

#include "front/rehearsal/script.hpp"
#include "policy/rehearsal.hpp"

namespace fairlead::front {

/// No bodies, no bytes: only the caller's time.
class SimulatedStage final : public Stage {
 public:
  /// Both stay as long as it does. Once `stops` is set, by any thread, plays end soon and find nothing.
  SimulatedStage(const Script& script, const std::atomic<bool>& stops) : script_(script), stops_(stops) {}

  Duration play(std::string_view policy, Duration enough, Duration patience) override;

  /// Of all plays together.
  std::uint64_t tasks_played() const noexcept { return tasks_played_; }

 private:
  const Script& script_;
  const std::atomic<bool>& stops_;
  std::uint64_t tasks_played_ = 0;
};

}  // namespace fairlead::front
