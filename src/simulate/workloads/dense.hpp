// Common parts of the dense workloads: tasks on tiles, with their work and the side that determines their rate.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulate/program_matrix.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

/// A task of an m x n x k kernel, whose rate depends on the smallest side.
inline ProgramTask dense_task(KernelIndex kernel, double flops, std::int64_t m, std::int64_t n,
                              std::int64_t k, std::int32_t priority, std::int32_t iteration) {
  return {.kernel = kernel,
          .priority = priority,
          .iteration = iteration,
          .flops = static_cast<float>(flops),
          .side = static_cast<float>(std::min({m, n, k}))};
}

inline std::string title_of(std::string_view name, const WorkloadSize& size) {
  return fmt::format("{}, n = {}, tile {}, {}", name, size.n, size.tile, name_of(size.precision));
}

}  // namespace fairlead::simulate
