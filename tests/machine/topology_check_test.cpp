// Machines on which memory can work, and those from files on which it cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/topology_check.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;

Topology two_devices() {
  Topology topology = out_of_core_topology(2, Bytes{1} << 30, 1e9, Duration(1000));
  add_devices(topology,
              {{.name = "gpu 0", .capacity = Bytes{1} << 20}, {.name = "gpu 1", .capacity = Bytes{1} << 20}});
  add_generator(topology, 1e9);
  return topology;
}

template <class F>
std::string flaw_after(F&& change) {
  Topology topology = two_devices();
  change(topology);
  return flaw_of(topology);
}

}  // namespace

TEST(TopologyCheck, FindsNothingWrongWithThoseThatAreMade) {
  EXPECT_EQ(flaw_of(two_devices()), "");
  EXPECT_EQ(flaw_of(out_of_core_topology(1, 4096, 1e9, Duration{})), "");
}

TEST(TopologyCheck, SaysWhatIsWrong) {
  EXPECT_THAT(flaw_after([](Topology& it) { it.workers.clear(); }), HasSubstr("no worker"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.workers[0].node = OutOfCoreNodes::disk; }),
              HasSubstr("a worker is beside \"disk\""));
  EXPECT_THAT(flaw_after([](Topology& it) { it.nodes.resize(33); }), HasSubstr("33 memory nodes"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.nodes[2].reaches = {OutOfCoreNodes::ram}; }),
              HasSubstr("\"RAM\" reaches \"RAM\""));
  EXPECT_THAT(flaw_after([](Topology& it) { it.links[1].second = it.links[1].first; }),
              HasSubstr("leads back to where it begins"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.links[1].concurrent_copies = 0; }),
              HasSubstr("carries no copy"));
  EXPECT_THAT(flaw_after([](Topology& it) { it.nodes.push_back({.name = "lost"}); }),
              HasSubstr("no link joins \"user memory\" and \"lost\""));
  EXPECT_THAT(flaw_after([](Topology& it) {
                for (LinkSpec& link : it.links)
                  if (link.legs.size() == 2) std::swap(link.legs[0], link.legs[1]);
              }),
              HasSubstr("two wires that do not meet"));
}

}  // namespace fairlead
