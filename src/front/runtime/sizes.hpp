// How large what is registered may be: sizes are computed without overflow, and what no process could address
// is refused with its size.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/strided.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <string>

namespace fairlead::front {

/// Throws UsageError if the array's elements, with what lies between them, are more than can be addressed.
/// All extents are positive, no stride is negative. `kind`: what it is, for messages.
Bytes checked_bytes(const std::string& name, const char* kind, const Strided& array, Bytes element_bytes);

/// Throws UsageError if these are more tiles than one matrix may have.
void check_tiles(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                 bool lower_only);
/// Throws UsageError if there is nothing in such a tile.
void check_tile(const std::string& name, TileSize tile);

}  // namespace fairlead::front
