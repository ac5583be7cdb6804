// Options of solvers whose plans are compared with runs.
#pragma once

#include <fairlead/solver.hpp>

#include <cstdint>

namespace fairlead::tests {

/// With one worker and a policy without estimates, the bytes hardly depend on times.
inline linalg::SolverOptions plan_options(linalg::Method method, Bytes memory, std::int32_t tile) {
  Config config;
  config.set("cache-directory", "none");
  config.set("scheduler", "eager");
  return {.memory = memory, .method = method, .tile = tile, .workers = 1, .config = config};
}

}  // namespace fairlead::tests
