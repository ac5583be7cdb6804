// Ranks: runtimes that compute together, each with its own memory. Each rank runs the same program; a parameterized
// graph over distributed matrices runs on all of them.
//
//   fairlead::Runtime runtime(config, fairlead::launched_rank());  // mpirun -n 4 ./program
//
// The rules are in docs/ranks.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fairlead {

namespace net {
class Network;
}

/// The place of this runtime among the ranks. Pass it to one runtime; it cannot be used for a second.
struct Rank {
  std::shared_ptr<net::Network> network{};  ///< null: the only rank

  /// The rank's number, from 0. Available before the runtime is constructed.
  std::uint32_t number() const noexcept;
  std::uint32_t count() const noexcept;
  /// True if all ranks are threads of this process.
  bool in_process() const noexcept;
  /// For a rank that will not construct a runtime: the other ranks would wait for it; instead they throw an error with
  /// this text. Returns when they have ended. Does nothing if the rank has or had a runtime.
  void give_up(const std::string& why) const;
};

/// This process's place among the processes that mpirun or srun launched together; the only rank if it was launched
/// alone. Call it from the program's first thread, on all ranks, once for each runtime. Ranks that may use the same
/// cores divide them: the calling thread and the threads that it starts are bound to this rank's share. Throws
/// SystemError if the library for the launcher's MPI is missing.
Rank launched_rank();

/// Ranks that are threads of this process, for experiments and tests.
std::vector<Rank> ranks_in_process(std::uint32_t count);

}  // namespace fairlead
