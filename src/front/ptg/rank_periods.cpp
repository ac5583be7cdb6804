// Growth of placement indices along a loop, and the resulting periods of ranks.
#include "front/ptg/rank_periods.hpp"

#include <numeric>

namespace fairlead::ptg {

std::optional<Growths> growths_of(const ClassTable& table, const ClassEdge& edge) {
  const TableClass& to = table.classes[edge.to_class];
  const MemoryPlace& where = *to.runs_at;
  Growths growths(where.indices.size());
  if (edge.loops.empty()) return growths;
  const std::uint8_t place = edge.loops.back().place;
  for (std::size_t i = 0; i < growths.size(); ++i) {
    for (const Loop& loop : to.loops)
      if (loop.derived && where.indices[i].growth(loop.place) != 0) return std::nullopt;
    for (std::size_t k = 0; k < to.parameters.size(); ++k) {
      const auto outer = where.indices[i].growth(to.parameters[k]), inner = edge.indices[k].growth(place);
      if (!outer || !inner) return std::nullopt;
      growths[i] += *outer * *inner;
    }
  }
  return growths;
}

RankPeriods::RankPeriods(const ClassTable& table) {
  for (const TableClass& of : table.classes)
    for (const TableFlow& flow : of.flows)
      for (const ClassEdge& edge : flow.edges) {
        if (edge.loops.size() != 1 || !edge.after.empty() || edge.may_be_missing) continue;
        const CollectionDefinition& data =
            *table.collections[table.classes[edge.to_class].runs_at->collection];
        const auto growths = growths_of(table, edge);
        if (growths) repeating_.emplace(&edge, Repeating{*growths, &data.owners.periods(data.extents)});
      }
}

std::int64_t RankPeriods::of(const ClassEdge& edge, std::int64_t step) const {
  const auto found = repeating_.find(&edge);
  if (found == repeating_.end()) return 0;
  const Repeating& it = found->second;
  std::int64_t tasks = 1;
  for (std::size_t i = 0; i < it.growths.size(); ++i) {
    const std::int64_t period = (*it.periods)[i];
    tasks = std::lcm(tasks, period / std::gcd(period, it.growths[i] * step));
  }
  return tasks;
}

}  // namespace fairlead::ptg
