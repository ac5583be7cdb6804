// Runtimes that compute together, each with memory of its own: ranks. Each runs the same program; a parameterized
// graph over distributed matrices runs on all of them.
//
//   std::vector<fairlead::Rank> ranks = fairlead::ranks_in_process(4);
//   // in a thread for each:
//   fairlead::Runtime runtime(config, ranks[i]);
//
// docs/ranks.md has the rules.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace fairlead {

namespace net {
class Network;
}

/// A place among several ranks. A runtime takes it; it is taken once.
struct Rank {
  std::shared_ptr<net::Network> network;
};

/// Ranks that are threads of this process, for trying things out and for tests.
std::vector<Rank> ranks_in_process(std::uint32_t count);

}  // namespace fairlead
