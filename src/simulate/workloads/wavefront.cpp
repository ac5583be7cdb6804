// Sweeps over a grid of tiles, where each tile depends on its upper and left neighbours: dynamic programming, or
// Gauss-Seidel. A sweep follows the previous one as closely as the data permit. Kernel: gemm, for any processor.
#include <fmt/format.h>

#include <array>

#include "algorithms/linalg/blas/flops.hpp"
#include "simulate/longest_path.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

Program make_wavefront(const WorkloadSize& size, const PolicyOptions& options) {
  const std::int64_t sweeps = options.integer("sweeps", 1, 100'000);
  Program program;
  program.title = fmt::format("wavefront, n = {}, tile {}, {} sweeps, {}", size.n, size.tile, sweeps,
                              name_of(size.precision));
  const ProgramMatrix grid(program, "grid", size.n, size.n, size.tile, size.precision);
  const KernelIndex gemm = program.kernel("gemm");
  for (std::int32_t sweep = 0; sweep < sweeps; ++sweep)
    for (std::int32_t i = 0; i < grid.row_count(); ++i)
      for (std::int32_t j = 0; j < grid.column_count(); ++j) {
        std::array<ProgramUse, 3> uses;
        std::size_t count = 0;
        if (i > 0) uses[count++] = {grid(i - 1, j), AccessMode::read};
        if (j > 0) uses[count++] = {grid(i, j - 1), AccessMode::read};
        uses[count++] = {grid(i, j), AccessMode::read_write};
        const std::int64_t rows = grid.height(i), columns = grid.width(j);
        program.add(dense_task(gemm,
                               linalg::gemm_flops(static_cast<double>(rows), static_cast<double>(columns),
                                                  static_cast<double>(size.tile)),
                               rows, columns, size.tile, 0, sweep),
                    std::span(uses).first(count));
      }
  prioritize_by_longest_path(program);
  return program;
}

}  // namespace fairlead::simulate
