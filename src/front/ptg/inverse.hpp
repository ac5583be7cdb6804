// Where values go, from where they come from: an input names the task that it is taken from, by indices that
// are sums of the taker's. Turned round, that says which tasks take the value of a given one: a system of
// equations over whole numbers, whose solutions lie between the bounds of the taker's ranges.
#pragma once
#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// One input of a class, as it was defined.
struct InputToInvert {
  const ClassDefinition& taker;
  const FlowDefinition& flow;
  std::size_t alternative;  ///< of its inputs; those before it do not hold
};

/// The edge from the tasks of `giver`, whose numbers are at its places; without its target's numbers in the
/// table. Nothing if there is no such task. Throws UsageError if it cannot be turned round.
std::optional<Edge> inverse_of(const InputToInvert& input, const TableClass& giver, const TableClass& taker);

}  // namespace fairlead::ptg
