// Limits on the size of registered data. Sizes are computed without overflow; a size beyond the address space is
// rejected.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/strided.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <string>

namespace fairlead::front {

/// Returns the packed size in bytes. Throws UsageError if the array, with the gaps between its elements, exceeds the
/// address space. Extents must be positive, strides not negative. `kind`: the kind of datum, for messages.
Bytes checked_bytes(const std::string& name, const char* kind, const Strided& array, Bytes element_bytes);

/// Throws UsageError if a matrix would have too many tiles.
void check_tiles(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                 bool lower_only);
/// Throws UsageError if a tile would be empty.
void check_tile(const std::string& name, TileSize tile);

}  // namespace fairlead::front
