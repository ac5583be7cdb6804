// What a runtime has counted since it began.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead {

struct Statistics {
  struct Count {
    Bytes bytes = 0;
    std::uint64_t copies = 0;
  };
  /// Why bytes crossed a link.
  enum class Cause : std::uint8_t {
    demand,    // an admitted task reads the datum
    prefetch,  // a task will read it
    eviction,  // its newest version goes home to make room
    flush,     // its newest version goes home because the program asks for it
  };
  static constexpr std::array<const char*, 4> cause_names{"demand", "prefetch", "eviction", "flush"};
  struct Link {
    std::string name, home, cache;
    std::array<Count, 4> from_home, to_home;  ///< by Cause
    std::chrono::nanoseconds busy{};          ///< at least one copy was under way
    Bytes bytes_from_home() const noexcept { return total(from_home); }
    Bytes bytes_to_home() const noexcept { return total(to_home); }

   private:
    static Bytes total(const std::array<Count, 4>& counts) noexcept {
      Bytes sum = 0;
      for (const Count& count : counts) sum += count.bytes;
      return sum;
    }
  };
  struct Node {
    std::string name;
    Bytes capacity = 0, peak_bytes = 0;
    std::uint64_t evictions = 0;
    std::string lost;  ///< why this device is gone since some moment; empty: it is there
  };
  struct Worker {
    std::uint64_t tasks = 0;
    std::chrono::nanoseconds busy{}, waiting_for_data{}, waiting_for_tasks{};
    std::string node;  ///< whose memory its tasks use
  };
  /// What this rank has sent to others, and where what they send lands.
  struct Network {
    std::uint64_t messages = 0, payloads = 0;
    Bytes payload_bytes = 0;  ///< those that travel with messages too
    Count into_devices{};     ///< values that have landed straight in the memory of devices
    std::string landing{};    ///< where they may land, and why, for people
  };
  /// Values that have come here from one other rank.
  struct FromRank {
    std::array<Count, 3> values{};          ///< of graphs, of flows, and messages of the program
    std::chrono::nanoseconds on_the_way{};  ///< at least one was wanted and not here
  };
  std::uint64_t tasks = 0, tasks_cancelled = 0;
  std::string scheduler;
  std::string
      deputy;  ///< the policy that decides for it at the moment, if it chooses among several; else empty
  std::vector<Link> links;
  Count generated;  ///< by generators, in place of being read; also the traffic of the link "generator"
  std::vector<Node> nodes;
  std::vector<Worker> workers;
  Network network;
  std::vector<FromRank> from_ranks;  ///< by rank; empty: this one computes alone
};

}  // namespace fairlead
