// The copies that wait for a link and those under way: started a few at a time, what is urgent first, and
// counted.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "machine/topology.hpp"
#include "memory/routes.hpp"

namespace fairlead::memory {

/// Bytes and copies that went over a wire, by cause and direction: from its first node to its second is "from
/// home". A copy that crosses two wires counts on both.
struct LinkTraffic {
  struct Count {
    Bytes bytes = 0;
    std::uint64_t copies = 0;
  };
  std::array<Count, cause_count> from_home{}, to_home{};
  Duration busy{};  ///< at least one copy was under way
};

class Links {
 public:
  Links(const Topology& topology, const Routes& routes);

  /// The copy waits for its link.
  void add(Copy& copy);
  /// It has not started, and will not: it was taken back, or goes another way.
  void remove(Copy& copy);
  /// Appends to `started` what the link can take now.
  void start(LinkId id, std::vector<Copy*>& started);
  /// What was started has ended.
  void ended(const Copy& copy);
  /// Its bytes have landed.
  void count(const Copy& copy) noexcept;

  /// By LinkId; wires only.
  std::span<const LinkTraffic> traffic() const noexcept { return traffic_; }
  std::size_t copies_in_flight() const noexcept { return in_flight_; }
  std::uint64_t copies_ended() const noexcept { return ended_; }

 private:
  struct Queue {
    std::deque<Copy*> urgent, prefetches;
    unsigned in_flight = 0, prefetches_in_flight = 0, most = 0;
  };
  /// Of a wire that copies are crossing: since when without a break.
  struct Crossing {
    unsigned copies = 0;
    const Copy* first = nullptr;  // when it began is known by the time it lands, which is before the last
    Time since{}, until{};
  };

  const Routes& routes_;
  std::vector<Queue> queues_;  // by LinkId, like those below
  std::vector<Crossing> crossings_;
  std::vector<LinkTraffic> traffic_;
  std::size_t in_flight_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace fairlead::memory
