// The copies that wait for a link and those under way: started a few at a time, what is urgent first, and
// counted. The directions of a duplex link have a queue each: what comes does not wait behind what goes.
#pragma once
#include <algorithm>
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
  using Counts = std::array<Count, cause_count>;
  static Bytes bytes(const Counts& counts) noexcept {
    Bytes sum = 0;
    for (const Count& count : counts) sum += count.bytes;
    return sum;
  }
  Counts from_home{}, to_home{};
  Duration busy{};  ///< at least one copy was under way
};

/// A direction of a duplex link, or both of another: copies on the same way wait for each other.
enum class WayId : std::uint32_t {};

class Links {
 public:
  Links(const Topology& topology, const Routes& routes);

  /// The copy waits for its link.
  void add(Copy& copy);
  /// It will, when the copy has landed that brings what it reads.
  void add_later(Copy& copy) noexcept { copy.state = Copy::State::joined; }
  /// It has not started, and will not: it was taken back, or goes another way.
  void remove(Copy& copy);
  WayId way_of(const Copy& copy) const noexcept { return way_of(copy.link, routes_.of(copy).away_from_home); }
  /// Appends to `started` what the way can take now.
  void start(WayId way, std::vector<Copy*>& started);
  /// What was started has ended.
  void ended(const Copy& copy);
  /// Its bytes have landed.
  void count(const Copy& copy) noexcept;

  /// What goes that way is in nobody's way who comes the other one.
  bool is_duplex(const Route& route) const noexcept {
    return duplex_[index(route.link)] &&
           std::ranges::all_of(route.legs, [this](const Leg& leg) { return duplex_[index(leg.link)]; });
  }
  /// Nothing is on its way there, nor waits for that.
  bool is_idle(const Route& route) const noexcept;

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

  WayId way_of(LinkId link, bool away_from_home) const noexcept {
    const bool back = duplex_[index(link)] && !away_from_home;
    return static_cast<WayId>(2 * index(link) + (back ? 1 : 0));
  }
  Queue& queue_of(const Copy& copy) noexcept { return queues_[static_cast<std::size_t>(way_of(copy))]; }

  const Routes& routes_;
  std::vector<bool> duplex_;   // by LinkId
  std::vector<Queue> queues_;  // by WayId: two for each link, of which one that is not duplex uses the first
  std::vector<Crossing> crossings_;  // by LinkId, like those below
  std::vector<LinkTraffic> traffic_;
  std::size_t in_flight_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace fairlead::memory
