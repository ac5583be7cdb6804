// Rehearsals on a simulated copy of the machine: the engine of real runs on the simulated world, with the
// topology, the sizes and the estimates that the engine of the run has now.
#pragma once
#include <memory>
#include <vector>

#include "memory/memory.hpp"
#include "policy/rehearsal.hpp"
#include "policy/view.hpp"

namespace fairlead::front {

/// What is rehearsed takes no bodies, no bytes and none of the run's time but the caller's. Not known to it: what links
/// are used for besides.
class SimulatedRehearsal final : public Rehearsal {
 public:
  /// Both stay as long as it does, and are asked while it plays.
  SimulatedRehearsal(const memory::Memory& memory, const View& view);

  Duration play(std::string_view policy, std::span<Task* const> tasks, Duration enough,
                Duration patience) override;

 private:
  const memory::Memory& memory_;
  const View& view_;
  std::vector<WorkerId> different_;  // workers: one of each kind on each node
};

/// For engine::Options::rehearsal.
inline auto simulated_rehearsals() {
  return [](const memory::Memory& memory, const View& view) -> std::unique_ptr<Rehearsal> {
    return std::make_unique<SimulatedRehearsal>(memory, view);
  };
}

}  // namespace fairlead::front
