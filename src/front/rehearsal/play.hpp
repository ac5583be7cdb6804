// A script is played on a simulated copy of the machine: the engine of real runs on the simulated world, with the topology,
// the sizes and the estimates that the engine of the run had. Not known: what links are used for besides.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "front/rehearsal/script.hpp"
#include "policy/rehearsal.hpp"

namespace fairlead::front {

/// No bodies, no bytes: only the time of some threads.
class SimulatedStage final : public Stage {
 public:
  enum class Threads : bool {
    real,       // so many play at once
    pretended,  // one plays after the other, and it is counted as if so many did
  };
  /// Both stay as long as it does. Once `stops` is set, by any thread, plays end soon and find nothing.
  SimulatedStage(const Script& script, const std::atomic<bool>& stops, std::size_t threads, Threads are)
      : script_(script), stops_(stops), threads_(threads), are_(are) {}

  using Stage::play;
  std::vector<Played> play(std::span<const std::string> policies, Duration enough,
                           Duration patience) override;

  /// By the thread that has played most.
  std::uint64_t tasks_played() const noexcept { return tasks_played_; }

 private:
  const Script& script_;
  const std::atomic<bool>& stops_;
  const std::size_t threads_;
  const Threads are_;
  std::uint64_t tasks_played_ = 0;
};

}  // namespace fairlead::front
