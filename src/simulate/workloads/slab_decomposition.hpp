// A 3-D grid, cut along one dimension into blocks of planes, with periodic boundaries: below the first block is the
// last one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fairlead/error.hpp>

#include "simulate/workload.hpp"

namespace fairlead::simulate {

class SlabDecomposition {
 public:
  SlabDecomposition(const WorkloadSize& size, std::int64_t cells_of_plane)
      : n_(size.n), tile_(size.tile), cells_of_plane_(cells_of_plane) {}

  std::int32_t count() const { return static_cast<std::int32_t>((n_ + tile_ - 1) / tile_); }
  std::int64_t planes(std::int32_t block) const { return std::min(tile_, n_ - block * tile_); }
  std::int64_t fewest_planes() const { return planes(count() - 1); }
  std::int32_t below(std::int32_t block) const { return block == 0 ? count() - 1 : block - 1; }
  std::int32_t above(std::int32_t block) const { return block + 1 == count() ? 0 : block + 1; }
  std::int64_t cells(std::int64_t planes) const {
    if (planes > most_cells / cells_of_plane_)
      throw ConfigError("a block of the grid has more than 2^56 cells: take a smaller grid, or more blocks");
    return cells_of_plane_ * planes;
  }
  Bytes bytes(std::int64_t planes, Bytes element) const {
    return static_cast<Bytes>(cells(planes)) * element;
  }

  /// A task on the given number of cells with a cost per cell; its side is that of a cube of the same number
  /// of cells.
  static ProgramTask task(KernelIndex kernel, std::int64_t cells, double flops_per_cell,
                          std::int32_t iteration) {
    return {.kernel = kernel,
            .iteration = iteration,
            .flops = static_cast<float>(static_cast<double>(cells) * flops_per_cell),
            .side = static_cast<float>(std::cbrt(static_cast<double>(cells)))};
  }

 private:
  static constexpr std::int64_t most_cells = std::int64_t{1} << 56;
  std::int64_t n_, tile_, cells_of_plane_;
};

}  // namespace fairlead::simulate
