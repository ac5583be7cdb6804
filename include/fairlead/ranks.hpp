// Runtimes that compute together, each with memory of its own: ranks. Each runs the same program; a parameterized
// graph over distributed matrices runs on all of them.
//
//   fairlead::Runtime runtime(config, fairlead::launched_rank());  // mpirun -n 4 ./program
//
// docs/ranks.md has the rules.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fairlead {

namespace net {
class Network;
}

/// A place among several ranks. A runtime takes it; it is taken once.
struct Rank {
  std::shared_ptr<net::Network> network{};  ///< null: alone

  /// From 0. Known before there is a runtime.
  std::uint32_t number() const noexcept;
  std::uint32_t count() const noexcept;
  /// The others are threads of this process.
  bool in_process() const noexcept;
  /// For a rank that will have no runtime after all: the others, who would wait for it, throw with this text. Nothing if
  /// there is or was a runtime. Returns when they have ended, too.
  void give_up(const std::string& why) const;
};

/// This process's place among those that mpirun or srun has started together; alone if it was started by itself. To be
/// asked by the program's first thread, on all of them, once for each runtime. Those that may use the same cores divide
/// them: the calling thread and those that it starts keep to this rank's. Throws SystemError if that MPI is not there.
Rank launched_rank();

/// Ranks that are threads of this process, for trying things out and for tests.
std::vector<Rank> ranks_in_process(std::uint32_t count);

}  // namespace fairlead
