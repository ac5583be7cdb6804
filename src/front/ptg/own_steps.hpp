// With several ranks: finds the receivers of a value that run on this rank without enumerating the others. If the
// distribution is cyclic in each dimension, the tasks of a loop that run here are a fixed number of steps apart.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "front/ptg/class_table.hpp"
#include "front/ptg/rank_periods.hpp"
#include "front/ptg/rank_placement.hpp"

namespace fairlead::ptg {

class OwnSteps {
 public:
  /// Both arguments must outlive the object, and the edges must not move.
  OwnSteps(const ClassTable& table, const RankPlacement& placement);

  const RankPlacement& placement() const noexcept { return placement_; }
  /// For the current iteration of an edge's loops: 0 if its task runs here or has no rank (an error that is reported
  /// later); otherwise the number of steps of the innermost loop to the next task that may run here.
  std::int64_t steps_to_own(const ClassEdge& edge, const Walk& walk, std::int64_t* numbers) const;

 private:
  /// The indices of this rank's data in one dimension: `from`, `from` + `every`, ...
  struct Cycle {
    std::int64_t every = 1, from = 0;
  };
  using Turns = std::vector<Cycle>;

  std::optional<Turns> turns_of(const CollectionDefinition& data) const;
  std::int64_t steps_to(const Turns& turns, const Growths& growths, std::int64_t step,
                        const std::int64_t* indices) const;

  const ClassTable& table_;
  const RankPlacement& placement_;
  std::vector<std::optional<Turns>> cycles_;  // by collection; nothing: the distribution is not cyclic
  // edges without an entry are stepped through one by one
  std::unordered_map<const ClassEdge*, Growths> growths_;
};

}  // namespace fairlead::ptg
