// Which elements the tiles of each flow have: those of the data that they come from or go to.
#pragma once
#include <span>
#include <vector>

#include "front/jdf_graph/lower.hpp"

namespace fairlead::jdf {

/// By class and flow. Throws InputError where two kinds meet, or a body calls what is for the other kind.
std::vector<std::vector<Precision>> elements_of_flows(const Program& program,
                                                      std::span<const BoundData> data);

/// By class and flow: the size of the whole tiles of the data that they come from or go to; 0 where two kinds meet.
std::vector<std::vector<TileSize>> whole_tiles_of_flows(const Program& program,
                                                        std::span<const BoundData> data);

}  // namespace fairlead::jdf
