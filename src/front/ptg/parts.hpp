// Parts of tiles that are sent to other ranks: which parts a class sends, and their memory layouts.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <optional>

#include "front/ptg/class_table.hpp"
#include "net/value_layout.hpp"

namespace fairlead::ptg {

/// The part of the value on this edge, as stated by either end; everything if none states one. Nothing if the
/// statements differ.
std::optional<Part> part_between(const ClassDefinition& giver, const FlowDefinition& flow,
                                 const Alternative& output, const FlowDefinition& taker);

/// Fills in TableClass::parts from the edges. Returns false if there are more outputs than numbers for them.
bool find_parts(TableClass& of);

/// The layout of a part within a column-major tile. For an empty part, as for the full tile, the layout of
/// everything.
net::ValueLayout layout_within(const PartOf& tile, const Part& part);

}  // namespace fairlead::ptg
