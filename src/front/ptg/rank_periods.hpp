// Over ranks: after how many tasks of a loop their ranks repeat. Where data are dealt out in turn, whoever has to find all
// ranks that get a value need not look at more of the tasks that it goes to.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// By how much the indices of the datum where an edge's task runs grow with the number of the edge's innermost loop. Nothing
/// if that is not the same everywhere.
using Growths = std::vector<std::int64_t>;
std::optional<Growths> growths_of(const ClassTable& table, const Edge& edge);

class RankPeriods {
 public:
  /// It stays, and its edges where they are.
  explicit RankPeriods(const ClassTable& table);

  /// Of the tasks of an edge, which has one loop with that step: after so many their ranks are as before; 0: not known.
  std::int64_t of(const Edge& edge, std::int64_t step) const;

 private:
  struct Repeating {
    Growths growths;
    const std::vector<std::int64_t>* periods;  // of the owners, by index
  };
  std::unordered_map<const Edge*, Repeating> repeating_;
};

}  // namespace fairlead::ptg
