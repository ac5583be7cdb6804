// The blocks of columns of a left-looking factorization: as many columns of tiles as fit into memory, next to a panel
// and the tiles that stream past.
#pragma once
#include <cstdint>
#include <vector>

namespace fairlead::linalg {

/// The shape of a matrix, and the memory, in tiles.
struct BlockedColumns {
  std::int64_t tile_rows, tile_columns;
  std::int64_t tiles_in_memory;  ///< of all ranks
  std::int64_t workers;          ///< of all ranks
  std::int64_t ranks = 1;        ///< each factors panels
};

/// The first column of tiles of each block. A block has at least one column.
std::vector<std::int32_t> column_blocks(const BlockedColumns& of);

}  // namespace fairlead::linalg
