// What crosses several wires is as fast as they are, in each direction.
#include "machine/topology.hpp"

#include <gtest/gtest.h>

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

TEST(Topology, WhatCrossesTwoWiresIsAsFastAsTheSlowerOneInEachDirection) {
  Topology topology = with_two_devices();
  const NodeId one = topology.devices()[0], two = topology.devices()[1], host = topology.host();
  topology.links[index(topology.link_between(host, one))].bytes_per_second = {8e9, 4e9};
  topology.links[index(topology.link_between(host, two))].bytes_per_second = {2e9, 6e9};
  topology.wires_changed();
  // From the first to the second: out of the first, into the second.
  EXPECT_EQ(topology.links[index(topology.link_between(one, two))].bytes_per_second, Bandwidth(2e9, 6e9));
  EXPECT_EQ(topology.links[index(topology.link_between(topology.store(), one))].bytes_per_second,
            Bandwidth(3e9));
  EXPECT_EQ(topology.links[index(topology.link_between(topology.user_memory(), one))].bytes_per_second,
            Bandwidth(8e9, 4e9));
}

TEST(Topology, WhatCrossesTwoWiresIsDuplexIfBothAre) {
  Topology topology = with_two_devices();
  const NodeId one = topology.devices()[0], two = topology.devices()[1];
  const auto duplex = [&](NodeId a, NodeId b) {
    return topology.links[index(topology.link_between(a, b))].duplex;
  };
  EXPECT_TRUE(duplex(one, two));
  EXPECT_FALSE(duplex(topology.store(), one));
  topology.links[index(topology.link_between(topology.host(), two))].duplex = false;
  topology.wires_changed();
  EXPECT_FALSE(duplex(one, two));
  EXPECT_TRUE(duplex(topology.user_memory(), one));
}

TEST(Topology, WhatCrossesTwoWiresIsAsLateAsBothTogether) {
  const Topology topology = with_two_devices();
  EXPECT_EQ(topology.links[index(topology.link_between(topology.store(), topology.devices()[0]))].latency,
            Duration(105));
}

TEST(Topology, WorkersAreAsFarApartAsLevelsThatTheyDoNotShare) {
  const auto in = [](std::vector<unsigned> shares) {
    WorkerSpec worker;
    worker.shares = std::move(shares);
    return worker;
  };
  EXPECT_EQ(levels_apart(in({}), in({})), 0u);
  EXPECT_EQ(levels_apart(in({1, 7}), in({1, 7})), 0u);
  EXPECT_EQ(levels_apart(in({1, 7}), in({1, 8})), 1u);
  EXPECT_EQ(levels_apart(in({1, 7}), in({2, 7})), 2u);  // a number means nothing within another package
  EXPECT_EQ(levels_apart(in({1, 7}), in({1})), 1u);     // one has no cache that it shares
}

}  // namespace fairlead
