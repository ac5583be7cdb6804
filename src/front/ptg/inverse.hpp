// Inverts dependence functions. An input names its producer by indices that are affine in the consumer's indices. The
// inverse gives the consumers of a task's value: the integer solutions of a system of equations, within the
// consumer's ranges.
#pragma once
#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// One input of a class definition.
struct InvertedInput {
  const ClassDefinition& taker;
  const FlowDefinition& flow;
  /// The position among the flow's inputs; applies only if the earlier ones do not.
  std::size_t alternative;
};

/// The edge from the tasks of `giver` to the tasks that take the value by this input. The indices of `giver` are at
/// its places; to_class and to_flow are not set. Nothing if there is no such consumer. Throws UsageError if the input
/// cannot be inverted.
std::optional<ClassEdge> invert(const InvertedInput& input, const TableClass& giver, const TableClass& taker);

}  // namespace fairlead::ptg
