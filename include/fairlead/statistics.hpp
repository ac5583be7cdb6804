// The counters of a runtime since its construction.
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
  /// Why bytes were transferred over a link.
  enum class Cause : std::uint8_t {
    demand,    // an admitted task reads the datum
    prefetch,  // a future task will read the datum
    eviction,  // the newest version is written home to make room
    flush,     // the newest version is written home at the program's request
  };
  static constexpr std::array<const char*, 4> cause_names{"demand", "prefetch", "eviction", "flush"};
  struct Link {
    std::string name, home, cache;
    std::array<Count, 4> from_home, to_home;  ///< by Cause
    std::chrono::nanoseconds busy{};          ///< time with at least one copy in flight
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
    std::string lost;  ///< why this device was lost; empty: it is available
  };
  struct Worker {
    std::uint64_t tasks = 0;
    std::chrono::nanoseconds busy{}, waiting_for_data{}, waiting_for_tasks{};
    std::string node;  ///< the memory node of its tasks
  };
  /// Messages from this rank to others, and where incoming values are stored.
  struct Network {
    std::uint64_t messages = 0, payloads = 0;
    Bytes payload_bytes = 0;       ///< including payloads inside messages
    Count into_devices{};          ///< values received directly into device memory
    std::string receive_memory{};  ///< where values may be received, and why, for people
  };
  /// Values received from one other rank.
  struct FromRank {
    std::array<Count, 3> values{};         ///< from graphs, from flows, and from messages of the program
    std::chrono::nanoseconds in_flight{};  ///< time with at least one requested value not yet received
  };
  std::uint64_t tasks = 0, tasks_cancelled = 0;
  std::string scheduler;
  std::string active_policy;  ///< the active policy, if `scheduler` selects among several; otherwise empty
  std::vector<Link> links;
  Count generated;  ///< values computed by generators instead of read; also the traffic of the link
                    ///< "generator"
  std::vector<Node> nodes;
  std::vector<Worker> workers;
  Network network;
  std::vector<FromRank> from_ranks;  ///< by rank; empty: there are no other ranks
};

}  // namespace fairlead
