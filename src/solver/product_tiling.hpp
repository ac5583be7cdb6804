// How a product C = A B out of core is cut into tiles, and into blocks of C that stay in memory.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead::solver {

/// C is rows x columns, A is rows x inner.
struct ProductExtents {
  std::int64_t rows = 0, columns = 0, inner = 0;
  std::size_t element_bytes = 0;
};

struct ProductTiling {
  std::int32_t rows, columns, inner;       ///< of tiles: A's are rows x inner, B's inner x columns
  std::int64_t block_rows, block_columns;  ///< of a block of C, in tiles

  Bytes tile_bytes(std::int32_t height, std::int32_t width, std::size_t element_bytes) const noexcept;
};

/// The tiles are as large as the memory and the number of workers permit, and the block of C as large and as square as
/// fits next to two columns of tiles of A and two rows of tiles of B: the ones in use and the ones before. Square blocks
/// need the fewest reads of A and B. `tile`: the side of tiles that the user has given; 0: none. Throws MemoryLimitError.
ProductTiling product_tiling(const ProductExtents& of, Bytes memory, std::size_t workers, std::int32_t tile,
                             bool own_products);

}  // namespace fairlead::solver
