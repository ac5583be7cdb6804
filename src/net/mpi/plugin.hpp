// The interface of a plug-in for an MPI: one symbol, through which a process joins those started with it. Each MPI
// has its own types, so the same sources are compiled once for each installed MPI (cmake/mpi.cmake), and the program
// loads the plug-in of the mpirun that started it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/network.hpp"

namespace fairlead::net {

struct MpiPlugin {
  const char* interface;  ///< interface_of_plugins; must equal the program's
  /// Initializes MPI. False: the program or an earlier call has. Collective. Throws SystemError.
  bool (*begin)();
  /// Gathers a text of each rank; indexed by rank. Collective. Throws SystemError.
  std::vector<std::string> (*share)(const std::string& own);
  /// Joins the other processes. Collective. Throws SystemError.
  std::shared_ptr<Network> (*join)();
  /// Finalizes MPI, if this plug-in has initialized it. Collective.
  void (*end)();
  /// Aborts all processes through MPI; may block for long.
  void (*abort)();
  /// The largest message, in bytes, that MPI sends without a posted receive, measured between ranks 0 and 1; 0: none,
  /// or one rank only. Collective. Throws SystemError.
  std::uint64_t (*eager_bytes)();
};

inline constexpr const char* mpi_plugin_symbol = "fairlead_mpi";

}  // namespace fairlead::net
