// What a plug-in for an MPI has to offer: one symbol, by which a process joins those that were started with it. Each MPI
// has types of its own, so the same sources are compiled once for each that is there (cmake/mpi.cmake), and the program
// loads the one whose mpirun has started it.
#pragma once
#include <cstdint>
#include <memory>

#include "net/network.hpp"

namespace fairlead::net {

struct MpiPlugin {
  const char* version;  ///< of Fairlead: plug-in and program are of the same one
  /// Begins with MPI, unless the program has, and gives this process its place. Collective. Throws SystemError.
  std::shared_ptr<Network> (*join)();
};

inline constexpr const char* mpi_plugin_symbol = "fairlead_mpi";

}  // namespace fairlead::net
