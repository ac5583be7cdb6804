// Valid topologies, and the errors that validate() reports for invalid ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/topology_check.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;

Topology two_devices() {
  Topology topology = out_of_core_topology(2, Bytes{1} << 30, 1e9, Duration(1000));
  for (const char* name : {"gpu 0", "gpu 1"})
    add_device(topology, {.name = name, .capacity = Bytes{1} << 20});
  add_generator(topology, 1e9);
  return topology;
}

template <class F>
std::string flaw_after(F&& change) {
  Topology topology = two_devices();
  change(topology);
  return validate(topology);
}

}  // namespace

TEST(TopologyCheck, AcceptsTheTopologiesOfTheBuilders) {
  EXPECT_EQ(validate(two_devices()), "");
  EXPECT_EQ(validate(out_of_core_topology(1, 4096, 1e9, Duration{})), "");
}

// Independent of the order in which nodes were added.
TEST(Topology, FindsNodesByTheirKind) {
  const Topology two = two_devices();
  EXPECT_EQ(two.nodes[index(two.user_memory())].name, "user memory");
  EXPECT_EQ(two.nodes[index(two.store())].name, "disk");
  EXPECT_EQ(two.nodes[index(two.host())].name, "RAM");
  ASSERT_EQ(two.devices().size(), 2u);
  for (const NodeId device : two.devices()) {
    EXPECT_TRUE(two.has_kind(device, MemoryKind::device));
    EXPECT_FALSE(two.has_kind(device, MemoryKind::host));
  }
  EXPECT_TRUE(out_of_core_topology(1, 4096, 1e9, Duration{}).devices().empty());
  EXPECT_THROW(Topology{}.store(), ConfigError);
}

TEST(TopologyCheck, ReportsTheError) {
  EXPECT_THAT(flaw_after([](Topology& it) { it.workers.clear(); }), HasSubstr("no worker"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.workers[0].node = it.store(); }),
              HasSubstr("a worker is on \"disk\""));
  EXPECT_THAT(flaw_after([](Topology& it) { it.nodes.resize(33); }), HasSubstr("33 memory nodes"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.nodes[2].directly_accessible_homes = {it.host()}; }),
              HasSubstr("\"RAM\" cannot access \"RAM\" directly"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.links[1].second = it.links[1].first; }),
              HasSubstr("connects a node with itself"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.links[1].concurrent_copies = 0; }),
              HasSubstr("allows no copies"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.nodes.push_back({.name = "lost"}); }),
              HasSubstr("no link connects \"user memory\" and \"lost\""));
  EXPECT_THAT(flaw_after([](Topology& it) {
                for (LinkSpec& link : it.links)
                  if (link.physical_links.size() == 2)
                    std::swap(link.physical_links[0], link.physical_links[1]);
              }),
              HasSubstr("two physical links that do not meet"));
}

}  // namespace fairlead
