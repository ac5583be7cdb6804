// Phases of equal tasks that can all run at once, separated by sequential tasks: a program whose loops are parallelized
// one by one. Kernel: gemm, for any processor.
//
// A task of a phase updates a tile of its own and reads one that all tasks of the phase read. The task after the phase
// reads one row of each task's result, and updates the tile that the next phase reads.
#include <fmt/format.h>

#include "algorithms/linalg/blas/flops.hpp"
#include "simulate/longest_path.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

Program make_forkjoin(const WorkloadSize& size, const PolicyOptions& options) {
  const std::int64_t width =
      options.is_set("width") ? options.integer("width", 1, 60'000) : (size.n + size.tile - 1) / size.tile;
  const std::int64_t phases = options.integer("phases", 1, 100'000);
  Program program;
  program.title = fmt::format("forkjoin, {} phases of {}, tile {}, {}", phases, width, size.tile,
                              name_of(size.precision));
  const ProgramMatrix own(program, "own", width * size.tile, size.tile, size.tile, size.precision),
      shared(program, "shared", size.tile, size.tile, size.tile, size.precision);
  const Bytes row = static_cast<Bytes>(size.tile) * element_bytes(size.precision);
  const std::int16_t rows = program.collection("results");
  std::vector<DatumIndex> results;
  for (std::int32_t i = 0; i < width; ++i)
    results.push_back(
        program.datum({.bytes = row, .collection = rows, .row = i, .column = 0, .has_value = false}));
  const KernelIndex gemm = program.kernel("gemm");
  const auto tile = static_cast<double>(size.tile);
  std::vector<ProgramUse> gathered;
  for (const DatumIndex result : results) gathered.push_back({result, AccessMode::read});
  gathered.push_back({shared(0, 0), AccessMode::read_write});
  for (std::int32_t phase = 0; phase < phases; ++phase) {
    for (std::int32_t i = 0; i < width; ++i)
      program.task(
          dense_task(gemm, linalg::gemm_flops(tile, tile, tile), size.tile, size.tile, size.tile, 0, phase),
          {{shared(0, 0), AccessMode::read},
           {own(i, 0), AccessMode::read_write},
           {results[static_cast<std::size_t>(i)], AccessMode::write}});
    program.add(dense_task(gemm, linalg::gemm_flops(tile, tile, static_cast<double>(width)), size.tile,
                           size.tile, size.tile, 0, phase),
                gathered);
  }
  prioritize_by_longest_path(program);
  return program;
}

}  // namespace fairlead::simulate
