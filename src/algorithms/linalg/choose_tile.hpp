// The side of a tile, when the user leaves it to Fairlead.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead::linalg {

/// For factorizations and products of n x n matrices. Larger tiles make faster kernels and fewer tasks; but
/// enough of them must fit in the memory for workers to have what they use, what comes next and something to
/// reuse, and there must be enough of them to keep all workers busy to the end.
std::int32_t choose_tile(std::int64_t n, std::size_t element_bytes, Bytes memory_bytes,
                         std::size_t workers) noexcept;

}  // namespace fairlead::linalg
