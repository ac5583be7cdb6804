// Bandwidth and latency of routes over several links, in each direction.
#include "machine/topology.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>

namespace fairlead {
namespace {

constexpr Bytes mebibyte = 1 << 20;

Topology with_two_devices() {
  Topology topology = out_of_core_topology(1, mebibyte, 3e9, Duration(100));
  for (const char* name : {"one", "two"})
    add_device(topology,
               {.name = name, .capacity = mebibyte, .bytes_per_second = 10e9, .latency = Duration(5)});
  return topology;
}

}  // namespace

TEST(Topology, ARouteOverTwoLinksHasTheLowerBandwidthInEachDirection) {
  Topology topology = with_two_devices();
  const NodeId one = topology.devices()[0], two = topology.devices()[1], host = topology.host();
  topology.links[index(topology.link_between(host, one))].bytes_per_second = {8e9, 4e9};
  topology.links[index(topology.link_between(host, two))].bytes_per_second = {2e9, 6e9};
  topology.update_routes();
  // From the first to the second: out of the first, into the second.
  EXPECT_EQ(topology.links[index(topology.link_between(one, two))].bytes_per_second, Bandwidth(2e9, 6e9));
  EXPECT_EQ(topology.links[index(topology.link_between(topology.store(), one))].bytes_per_second,
            Bandwidth(3e9));
  EXPECT_EQ(topology.links[index(topology.link_between(topology.user_memory(), one))].bytes_per_second,
            Bandwidth(8e9, 4e9));
}

TEST(Topology, CountsTheWorkersOfANode) {
  Topology topology = out_of_core_topology(3, mebibyte, 3e9, Duration(100));
  const NodeId device = add_device(topology, {.name = "one", .capacity = mebibyte, .workers = 4});
  EXPECT_EQ(topology.workers_on(topology.host()), 3U);
  EXPECT_EQ(topology.workers_on(device), 4U);
  EXPECT_EQ(topology.workers_on(topology.store()), 0U);
}

// 8 MB to each: 4 ms over the first link, 1 ms over the second; 16 MB cross the shared bus at its bandwidth.
TEST(Topology, RoutesToAllDevicesShareLinksAndBuses) {
  Topology topology = with_two_devices();
  const NodeId one = topology.devices()[0], two = topology.devices()[1], host = topology.host();
  const std::array to{one, two};
  LinkSpec& slow = topology.links[index(topology.link_between(host, one))];
  LinkSpec& fast = topology.links[index(topology.link_between(host, two))];
  slow.bytes_per_second = {2e9, 1e9};
  fast.bytes_per_second = 8e9;
  topology.update_routes();
  constexpr Bytes bytes = 16'000'000;
  EXPECT_EQ(topology.scatter_time(bytes, host, to), Duration(4'000'000));
  topology.buses.push_back({.name = "bus", .bytes_per_second = {1.6e9, 0.8e9}, .duplex = true});
  fast.buses = {{.bus = 0}};
  EXPECT_EQ(topology.scatter_time(bytes, host, to), Duration(5'000'000));
  slow.buses = {{.bus = 0}};
  EXPECT_EQ(topology.scatter_time(bytes, host, to), Duration(10'000'000));
  slow.buses.front().reversed = true;  // the two directions of the bus do not contend
  EXPECT_EQ(topology.scatter_time(bytes, host, to), Duration(10'000'000));
  topology.buses.front().duplex = false;
  EXPECT_EQ(topology.scatter_time(bytes, host, to), Duration(15'000'000));
  // From one device to the other through RAM: over both links, and twice through the bus.
  EXPECT_EQ(topology.scatter_time(bytes, two, std::span(&one, 1)), Duration(40'000'000));
  EXPECT_EQ(topology.scatter_time(bytes, host, {}), Duration{});
  EXPECT_EQ(topology.scatter_time(bytes, host, std::span(&host, 1)), Duration{});
}

TEST(Topology, ARouteOverTwoLinksIsDuplexIfBothAre) {
  Topology topology = with_two_devices();
  const NodeId one = topology.devices()[0], two = topology.devices()[1];
  const auto duplex = [&](NodeId a, NodeId b) {
    return topology.links[index(topology.link_between(a, b))].duplex;
  };
  EXPECT_TRUE(duplex(one, two));
  EXPECT_FALSE(duplex(topology.store(), one));
  topology.links[index(topology.link_between(topology.host(), two))].duplex = false;
  topology.update_routes();
  EXPECT_FALSE(duplex(one, two));
  EXPECT_TRUE(duplex(topology.user_memory(), one));
}

TEST(Topology, ARouteOverTwoLinksAddsTheirLatencies) {
  const Topology topology = with_two_devices();
  EXPECT_EQ(topology.links[index(topology.link_between(topology.store(), topology.devices()[0]))].latency,
            Duration(105));
}

TEST(Topology, DomainDistanceCountsUnsharedLevels) {
  const auto in = [](std::vector<unsigned> shares) {
    WorkerSpec worker;
    worker.domains = std::move(shares);
    return worker;
  };
  EXPECT_EQ(domain_distance(in({}), in({})), 0u);
  EXPECT_EQ(domain_distance(in({1, 7}), in({1, 7})), 0u);
  EXPECT_EQ(domain_distance(in({1, 7}), in({1, 8})), 1u);
  EXPECT_EQ(domain_distance(in({1, 7}), in({2, 7})),
            2u);  // equal numbers in different packages are different domains
  EXPECT_EQ(domain_distance(in({1, 7}), in({1})), 1u);  // one shares no cache
}

}  // namespace fairlead
