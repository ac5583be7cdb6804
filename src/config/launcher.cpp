// See launcher.hpp.
#include "config/launcher.hpp"

#include <array>
#include <charconv>

namespace fairlead::config {

namespace {

/// Variables in which a launcher says how many there are, and which this is.
struct Launcher {
  const char *with, *ranks, *rank;
};
// Hydra and Slurm's PMI speak to MPICH and what descends from it; Slurm's PMIx to Open MPI.
constexpr std::array launchers{Launcher{"openmpi", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                               Launcher{"mpich", "PMI_SIZE", "PMI_RANK"},
                               Launcher{"openmpi", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"}};

std::optional<std::uint32_t> number_in(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto read = std::from_chars(found->second.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Launched> launched(const Environment& environment) {
  for (const Launcher& launcher : launchers) {
    const auto ranks = number_in(environment, launcher.ranks), rank = number_in(environment, launcher.rank);
    if (ranks && rank && *ranks > 1 && *rank < *ranks) return Launched{launcher.with, *ranks, *rank};
  }
  return std::nullopt;
}

}  // namespace fairlead::config
