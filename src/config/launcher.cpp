// See launcher.hpp.
#include "config/launcher.hpp"

#include <array>
#include <charconv>

namespace fairlead::config {

namespace {

/// The variables of a launcher that contain the number of ranks and this process's rank.
struct Launcher {
  const char *with, *ranks, *rank;
};
// MPICH and its derivatives use Hydra or Slurm's PMI; Open MPI uses Slurm's PMIx.
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

std::optional<LaunchInfo> detect_launcher(const Environment& environment) {
  for (const Launcher& launcher : launchers) {
    const auto ranks = number_in(environment, launcher.ranks), rank = number_in(environment, launcher.rank);
    if (ranks && rank && *ranks > 1 && *rank < *ranks) return LaunchInfo{launcher.with, *ranks, *rank};
  }
  return std::nullopt;
}

}  // namespace fairlead::config
