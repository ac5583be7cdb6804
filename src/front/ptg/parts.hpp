// Parts of tiles on their way to other ranks: which ones a class of tasks gives, and where they lie.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <optional>

#include "front/ptg/class_table.hpp"
#include "net/layout.hpp"

namespace fairlead::ptg {

/// What of the value goes from there to that flow, whichever end says it. Nothing if they say different parts.
std::optional<Part> part_between(const ClassDefinition& giver, const FlowDefinition& flow,
                                 const Alternative& output, const FlowDefinition& taker);

/// Fills in TableClass::parts, once its edges are known. False if there are more than have numbers.
bool find_parts(TableClass& of);

/// Where that part of a tile lies, which is one column after the other in memory. Of a part that has nothing, as of a part that
/// has all: all.
net::Layout layout_within(const PartOf& tile, const Part& part);

}  // namespace fairlead::ptg
