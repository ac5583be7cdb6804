// Whether somebody has started several processes of this program together: what mpirun and srun say in the environment.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "config/builder.hpp"

namespace fairlead::config {

struct Launched {
  std::string with;         ///< the MPI whose processes they are, as plug-ins are called: "openmpi", "mpich"
  std::uint32_t ranks = 1;  ///< how many
  std::uint32_t rank = 0;   ///< which of them this is
};

/// Nothing if it was started alone.
std::optional<Launched> launched(const Environment& environment);

}  // namespace fairlead::config
