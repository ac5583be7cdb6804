// Detects whether mpirun or srun has started this process as one of several ranks, from the environment.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "config/builder.hpp"

namespace fairlead::config {

struct LaunchInfo {
  std::string
      mpi_implementation;   ///< the MPI implementation, by the name of Fairlead's plug-in: "openmpi", "mpich"
  std::uint32_t ranks = 1;  ///< the number of ranks
  std::uint32_t rank = 0;   ///< this process's rank
};

/// Nothing if this is the only process.
std::optional<LaunchInfo> detect_launcher(const Environment& environment);

}  // namespace fairlead::config
