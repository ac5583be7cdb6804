// Over ranks: of the tasks that a value goes to, those that run here, without a look at each of the others. Where data
// are dealt out in turn, so many rows to each and so many columns, the tasks of a loop that run here are so many steps
// apart: what is between is passed by.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "front/ptg/class_table.hpp"
#include "front/ptg/placement.hpp"
#include "front/ptg/rank_periods.hpp"

namespace fairlead::ptg {

class OwnSteps {
 public:
  /// Both stay, and the edges where they are.
  OwnSteps(const ClassTable& table, const Placement& placement);

  const Placement& placement() const noexcept { return placement_; }
  /// Of a walk over the edge's loops, whose numbers these are: 0 if the task there runs here, else how many steps of the
  /// innermost loop it is to the next that may. Throws UsageError if there is no such task.
  std::int64_t off(const Edge& edge, const Walk& walk, std::int64_t* numbers) const;

 private:
  /// The data of a collection that are here: in each dimension every so many, from one on.
  struct Turn {
    std::int64_t every = 1, from = 0;
  };
  using Turns = std::vector<Turn>;

  std::optional<Turns> turns_of(const CollectionDefinition& data) const;
  std::int64_t steps_to(const Turns& turns, const Growths& growths, std::int64_t step,
                        const std::int64_t* indices) const;

  const ClassTable& table_;
  const Placement& placement_;
  std::vector<std::optional<Turns>> turns_;           // by collection; nothing: not dealt out in turn
  std::unordered_map<const Edge*, Growths> growths_;  // of edges of which that is known
};

}  // namespace fairlead::ptg
