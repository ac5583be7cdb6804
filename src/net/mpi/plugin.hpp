// What a plug-in for an MPI has to offer: one symbol, by which a process joins those that were started with it. Each MPI
// has types of its own, so the same sources are compiled once for each that is there (cmake/mpi.cmake), and the program
// loads the one whose mpirun has started it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/network.hpp"

namespace fairlead::net {

struct MpiPlugin {
  const char* interface;  ///< interface_of_plugins: plug-in and program are of the same one
  /// Begins with MPI. False: the program has, or there was a call before. Collective. Throws SystemError.
  bool (*begin)();
  /// What each rank says, by rank. Collective. Throws SystemError.
  std::vector<std::string> (*share)(const std::string& own);
  /// Gives this process its place. Collective. Throws SystemError.
  std::shared_ptr<Network> (*join)();
  /// Of whoever has begun with MPI. Collective.
  void (*end)();
  /// Ends all processes by MPI's means, which may take long.
  void (*abort)();
  /// Up to so many bytes a message leaves without anybody waiting for it, measured between the first two ranks; 0: none does,
  /// or there is one rank. Of those who have begun; collective. Throws SystemError.
  std::uint64_t (*eager_bytes)();
};

inline constexpr const char* mpi_plugin_symbol = "fairlead_mpi";

}  // namespace fairlead::net
