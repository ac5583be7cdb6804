// Routes between memory nodes, read for each copy: the link, the physical links that it crosses, and the duration of
// a copy on idle links. All numbers are integers, so that the choice of sources is deterministic.
#pragma once
#include <algorithm>
#include <vector>

#include "machine/topology.hpp"
#include "memory/replica.hpp"

namespace fairlead::memory {

/// The connection from one memory node to another.
struct Route {
  LinkId link = no_id<LinkId>;  ///< no_id: no route exists
  bool away_from_home = true;   ///< direction over the link
  NodeId through = no_id<NodeId>;
  Duration latency{};
  std::int64_t picoseconds_per_byte = 0;
  std::vector<RouteStep> legs;

  bool exists() const noexcept { return link != no_id<LinkId>; }
  /// In nanoseconds, saturated at some centuries, since a modified log may contain any number.
  Duration time(Bytes bytes) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide nanoseconds =
        static_cast<Wide>(bytes) * static_cast<std::uint64_t>(picoseconds_per_byte) / 1000;
    return Duration(std::min(latency.count(), longest) +
                    static_cast<std::int64_t>(std::min(nanoseconds, static_cast<Wide>(longest))));
  }

 private:
  static constexpr std::int64_t longest = std::int64_t{1} << 52;
};

class Routes {
 public:
  explicit Routes(const Topology& topology) : nodes_(topology.nodes.size()), routes_(2 * nodes_ * nodes_) {
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const LinkSpec& link = topology.links[i];
      for (const bool away : {true, false}) {
        const NodeId from = away ? link.first : link.second, to = away ? link.second : link.first;
        if (link.is_generator && !away) continue;
        Route& route = routes_[place(from, to, link.is_generator)];
        if (route.exists()) continue;  // the first link of a pair counts, as in link_between
        route = {.link = static_cast<LinkId>(i),
                 .away_from_home = away,
                 .through = link.through,
                 .latency = link.latency,
                 .picoseconds_per_byte =
                     static_cast<std::int64_t>(std::min(1e12 / link.bytes_per_second.of(away) + 0.5, 1e18)),
                 .legs = topology.route_of(static_cast<LinkId>(i), from, to)};
      }
    }
  }
  const Route& between(NodeId from, NodeId to) const noexcept { return routes_[place(from, to, false)]; }
  /// The route of data that are computed instead of read from their home.
  const Route& computing(NodeId from, NodeId to) const noexcept { return routes_[place(from, to, true)]; }
  const Route& of(const Copy& copy) const noexcept {
    return routes_[place(copy.from->node, copy.to->node, copy.generator != nullptr)];
  }

 private:
  std::size_t place(NodeId from, NodeId to, bool computing) const noexcept {
    return ((computing ? nodes_ : 0) + index(from)) * nodes_ + index(to);
  }
  std::size_t nodes_;
  std::vector<Route> routes_;
};

}  // namespace fairlead::memory
