// Finds the element type of each flow's tiles, from the data that the flow comes from or goes to.
#pragma once
#include <span>
#include <vector>

#include "front/jdf_graph/lower.hpp"

namespace fairlead::jdf {

/// By class and flow. Throws InputError where float and double meet, or if a body calls a function for the other type.
std::vector<std::vector<TilePrecision>> elements_of_flows(const RunnableJdf& program,
                                                          std::span<const BoundData> data);

/// By class and flow: the size of a full tile in the data that the flow comes from or goes to; 0 where sizes differ.
std::vector<std::vector<TileSize>> whole_tiles_of_flows(const RunnableJdf& program,
                                                        std::span<const BoundData> data);

}  // namespace fairlead::jdf
