// Detects cyclic distributions, and computes the steps to the next task of this rank.
#include "front/ptg/own_steps.hpp"

#include <algorithm>

namespace fairlead::ptg {

OwnSteps::OwnSteps(const ClassTable& table, const RankPlacement& placement)
    : table_(table), placement_(placement) {
  for (const auto& data : table.collections) cycles_.push_back(turns_of(*data));
  for (const TableClass& of : table.classes)
    for (const TableFlow& flow : of.flows)
      for (const ClassEdge& edge : flow.edges)
        if (cycles_[table.classes[edge.to_class].runs_at->collection])
          if (const std::optional<Growths> growths = growths_of(table, edge))
            growths_.emplace(&edge, *growths);
}

/// Determined from all owners, whatever the rule of the distribution.
std::optional<OwnSteps::Turns> OwnSteps::turns_of(const CollectionDefinition& data) const {
  const std::size_t dimensions = data.extents.size();
  if (data.owners.empty()) return std::nullopt;
  std::vector<std::vector<bool>> some(dimensions);  // by index: this rank owns a datum with it
  std::vector<std::int64_t> at(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) some[i].resize(static_cast<std::size_t>(data.extents[i]));
  std::size_t ours = 0;
  for (const std::uint32_t owner : data.owners.all()) {
    if (net::RankId{owner} == placement_.own()) {
      ++ours;
      for (std::size_t i = 0; i < dimensions; ++i) some[i][static_cast<std::size_t>(at[i])] = true;
    }
    for (std::size_t i = 0; i < dimensions && ++at[i] == data.extents[i]; ++i) at[i] = 0;
  }
  Turns turns(dimensions);
  std::size_t if_in_turn = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const auto first = std::ranges::find(some[i], true);
    if (first == some[i].end()) return std::nullopt;
    const auto second = std::find(first + 1, some[i].end(), true);
    turns[i].from = first - some[i].begin();
    turns[i].every = second == some[i].end() ? data.extents[i] : second - first;
    if (turns[i].from >= turns[i].every)
      return std::nullopt;  // the first index is beyond the first period: not cyclic
    for (std::size_t k = 0; k < some[i].size(); ++k) {
      const std::int64_t off = static_cast<std::int64_t>(k) - turns[i].from;
      if (some[i][k] != (off >= 0 && off % turns[i].every == 0)) return std::nullopt;
    }
    if_in_turn *= static_cast<std::size_t>(std::ranges::count(some[i], true));
  }
  if (ours != if_in_turn) return std::nullopt;  // not the full product of these rows and columns
  return turns;
}

std::int64_t OwnSteps::steps_to_own(const ClassEdge& edge, const Walk& walk, std::int64_t* numbers) const {
  if (!edge.after.empty() && !edge.holds(numbers)) return 1;  // there is no such task
  const TableClass& to = table_.classes[edge.to_class];
  std::array<std::int64_t, Walk::most_loops> parameters;
  edge.find_parameters(numbers, parameters.data());
  const std::optional<net::RankId> rank = placement_.rank_of_parameters(to, parameters.data());
  // a receiver that does not exist is reported as an error later
  if (!rank || *rank == placement_.own()) return 0;
  const auto growths = growths_.find(&edge);
  if (growths == growths_.end() || edge.loops.empty()) return 1;
  Numbers of_task;
  for (std::size_t i = 0; i < to.parameters.size(); ++i) of_task[to.parameters[i]] = parameters[i];
  to.place_derived(of_task.data());
  std::array<std::int64_t, Walk::most_loops> indices;
  for (std::size_t i = 0; i < to.runs_at->indices.size(); ++i)
    indices[i] = to.runs_at->indices[i](of_task.data());
  return steps_to(*cycles_[to.runs_at->collection], growths->second, walk.step(edge.loops.size()),
                  indices.data());
}

/// The number of steps, at least 1; larger than any loop if none of its tasks runs here.
std::int64_t OwnSteps::steps_to(const Turns& turns, const Growths& growths, std::int64_t step,
                                const std::int64_t* indices) const {
  constexpr std::int64_t never = std::int64_t{1} << 40;
  std::int64_t most = 1;  // the pattern repeats after this many steps
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (growths[i] != 0) {
      most *= turns[i].every;
    } else if ((indices[i] - turns[i].from) % turns[i].every != 0) {
      return never;
    }
  }
  for (std::int64_t steps = 1; steps < most; ++steps) {
    bool here = true;
    for (std::size_t i = 0; i < turns.size() && here; ++i)
      here = (indices[i] + steps * step * growths[i] - turns[i].from) % turns[i].every == 0;
    if (here) return steps;
  }
  return never;
}

}  // namespace fairlead::ptg
