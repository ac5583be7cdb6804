// With several ranks and a cyclic distribution, the ranks of a loop's tasks repeat. To find all ranks that receive a
// value, one period of the loop is enough.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// For each index of the datum where an edge's receiver runs: its growth per unit of the edge's innermost index.
/// Nothing if it is not constant.
using Growths = std::vector<std::int64_t>;
std::optional<Growths> growths_of(const ClassTable& table, const ClassEdge& edge);

/// Periods of all edges of a graph. Thread-safe.
class RankPeriods {
 public:
  /// `table` must outlive the object, and its edges must not move.
  explicit RankPeriods(const ClassTable& table);

  /// The number of consecutive tasks after which the ranks repeat, for an edge with one loop of this step; 0:
  /// unknown.
  std::int64_t of(const ClassEdge& edge, std::int64_t step) const;

 private:
  struct Repeating {
    Growths growths;
    const std::vector<std::int64_t>* periods;  // of the owners, by index of the collection
  };
  std::unordered_map<const ClassEdge*, Repeating> repeating_;
};

}  // namespace fairlead::ptg
