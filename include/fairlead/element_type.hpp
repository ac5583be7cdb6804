// How the elements of a matrix are stored in a file or in memory.
#pragma once
#include <cstdint>

namespace fairlead {

enum class ElementType : std::uint8_t { float32, float64 };

/// Which elements are adjacent.
enum class StorageOrder : std::uint8_t {
  c,        ///< the elements of a row (row-major)
  fortran,  ///< the elements of a column (column-major)
};

}  // namespace fairlead
