// Queues of copies per link. A link starts a few copies at a time, urgent ones first, and counts their bytes. A
// duplex link has one queue in each direction, so that the directions do not block each other.
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

/// Bytes and copies over a physical link, by cause and direction. "From home" is from its first node to its second. A
/// copy over two links counts on both.
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
  Duration busy{};  ///< time with at least one copy in flight
};

/// A queue: one direction of a duplex link, or both directions of another link.
enum class WayId : std::uint32_t {};

class Links {
 public:
  Links(const Topology& topology, const Routes& routes);

  /// Queues the copy for its link.
  void add(Copy& copy);
  /// The copy is queued later, when the copy to its source has arrived.
  void add_later(Copy& copy) noexcept { copy.state = Copy::State::joined; }
  /// Takes back a copy that has not started.
  void remove(Copy& copy);
  WayId way_of(const Copy& copy) const noexcept { return way_of(copy.link, routes_.of(copy).away_from_home); }
  /// Appends to `started` the copies that the queue can start now.
  void start(WayId way, std::vector<Copy*>& started);
  /// A started copy has ended.
  void ended(const Copy& copy);
  /// Adds the bytes of a copy that has arrived to the counts.
  void count(const Copy& copy) noexcept;

  /// True if the directions of the route do not delay each other.
  bool is_duplex(const Route& route) const noexcept {
    return duplex_[index(route.link)] &&
           std::ranges::all_of(route.legs, [this](const RouteStep& leg) { return duplex_[index(leg.link)]; });
  }
  /// True if no copy is queued or in flight on the route.
  bool is_idle(const Route& route) const noexcept;

  /// By LinkId; physical links only.
  std::span<const LinkTraffic> traffic() const noexcept { return traffic_; }
  /// Copies that have started and not ended.
  std::size_t copies_in_flight() const noexcept { return in_flight_; }
  std::uint64_t copies_ended() const noexcept { return ended_; }

 private:
  struct Queue {
    std::deque<Copy*> urgent, prefetches;
    unsigned in_flight = 0, prefetches_in_flight = 0, most = 0;
  };
  /// The current busy period of a link.
  struct Crossing {
    unsigned copies = 0;
    const Copy* first = nullptr;  // the period's first copy, whose start time is read when it ends
    Time since{}, until{};
  };

  WayId way_of(LinkId link, bool away_from_home) const noexcept {
    const bool back = duplex_[index(link)] && !away_from_home;
    return static_cast<WayId>(2 * index(link) + (back ? 1 : 0));
  }
  Queue& queue_of(const Copy& copy) noexcept { return queues_[static_cast<std::size_t>(way_of(copy))]; }

  const Routes& routes_;
  std::vector<bool> duplex_;   // by LinkId
  std::vector<Queue> queues_;  // by WayId: two for each link; a link that is not duplex uses the first only
  std::vector<Crossing> crossings_;  // by LinkId, as traffic_
  std::vector<LinkTraffic> traffic_;
  std::size_t in_flight_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace fairlead::memory
