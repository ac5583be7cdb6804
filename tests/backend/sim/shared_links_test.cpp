// Contention of concurrent copies on the simulated machine. A MiB takes 1,048,576 ns over an uncontended link.
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

using namespace std::chrono_literals;
constexpr Time alone = 1'048'576ns;
constexpr NodeId disk{1};

LinkSpec& link(Machine& machine, NodeId a, NodeId b) {
  return machine.topology.links[index(machine.topology.link_between(a, b))];
}

/// Memory has space for A and the modified C, and for B once C has been written back. Returns the time until a task reads
/// B.
Time until_both_have_come(const Machine& machine) {
  Machine copy = machine;
  World world = copy.with_data({{"A", 1_MiB}, {"B", 1_MiB}, {"C", 3_MiB}});
  world.submit(writes("C"));
  world.run();
  const Time before = world.now();
  world.submit(reads("A"));
  const auto second = world.submit(reads("B"));
  world.run();
  return world.started_at(second) - before;
}

/// Device 1 has one port for both other devices. Returns the time to copy A to it from device 0 while B, of the same size,
/// is copied from device `from` to device `to`.
Time until_a_is_through_the_port(std::size_t from, std::size_t to) {
  Machine machine = devices({8_MiB, 8_MiB, 8_MiB});
  machine.topology.buses = {{.name = "port", .bytes_per_second = 1e9, .duplex = true}};
  for (const std::size_t other : {0, 2}) {
    LinkSpec& wire = link(machine, Machine::device(1), Machine::device(other));
    wire.duplex = true;
    wire.buses = {{.bus = 0, .reversed = wire.first == Machine::device(1)}};
    machine.slow(disk, Machine::device(other), 1e6);
  }
  World world = machine.slow(disk, Machine::device(1), 1e6).with_data({{"A", 1_MiB}, {"B", 1_MiB}});
  world.submit(writes("A"), 0);
  world.submit(writes("B"), from);
  world.run();
  const Time before = world.now();
  const auto first = world.submit(reads("A"), 1);
  world.submit(reads("B"), to);
  world.run();
  return world.started_at(first) - before;
}

}  // namespace

TEST(SharedLinks, DevicesWithSeparateLinksDoNotContend) {
  World world = devices({8_MiB, 8_MiB}).with_data({{"A", 1_MiB}, {"B", 1_MiB}});
  const auto first = world.submit(reads("A"), 0), second = world.submit(reads("B"), 1);
  world.run();
  EXPECT_EQ(world.started_at(first), alone);
  EXPECT_EQ(world.started_at(second), alone);
}

TEST(SharedLinks, DevicesOnOneBusShareIt) {
  Machine machine = devices({8_MiB, 8_MiB});
  link(machine, disk, Machine::device(1)).physical_links = {
      machine.topology.link_between(disk, Machine::device(0))};
  World world = machine.with_data({{"A", 1_MiB}, {"B", 1_MiB}});
  const auto first = world.submit(reads("A"), 0), second = world.submit(reads("B"), 1);
  world.run();
  EXPECT_EQ(world.started_at(first), 2 * alone);
  EXPECT_EQ(world.started_at(second), 2 * alone);
}

TEST(SharedLinks, DevicesBehindABusShareItForAnyLinks) {
  Machine machine = devices({8_MiB, 8_MiB});
  machine.topology.buses = {{.name = "bus", .bytes_per_second = 1e9}};
  for (const int device : {0, 1}) {
    LinkSpec& wire = link(machine, disk, Machine::device(static_cast<std::size_t>(device)));
    wire.buses = {{0}};
    wire.bytes_per_second = device == 0 ? 1e9 : 0.25e9;
  }
  World world = machine.with_data({{"A", 3_MiB}, {"B", 1_MiB}});
  const auto first = world.submit(reads("A"), 0), second = world.submit(reads("B"), 1);
  world.run();
  // B is limited to a quarter by its link, A gets the rest of the bus: three quarters.
  EXPECT_EQ(world.started_at(first), 4 * alone);
  EXPECT_EQ(world.started_at(second), 4 * alone);
}

// The direction of a port does not depend on the order of the device numbers.
TEST(SharedLinks, APortHasSeparateDirectionsInAndOut) {
  EXPECT_EQ(until_a_is_through_the_port(1, 2), alone);
  EXPECT_EQ(until_a_is_through_the_port(1, 0), alone);
  EXPECT_EQ(until_a_is_through_the_port(2, 1), 2 * alone);
}

// A arrives while C leaves: both take twice as long until A has arrived. Then C has the link alone for two MiB, then B.
TEST(SharedLinks, DirectionsShareALink) { EXPECT_EQ(until_both_have_come(one_device(4_MiB)), 5 * alone); }

// C is copied out at a third of the bandwidth of A's copy in, without contention; then B. The link allows one copy at a time
// in each direction: A and B wait only for the memory of C.
TEST(SharedLinks, ADuplexLinkHasABandwidthAndAQueuePerDirection) {
  Machine machine = one_device(4_MiB);
  LinkSpec& wire = link(machine, disk, Machine::device(0));
  wire.duplex = true;
  wire.bytes_per_second = {1e9, 1e9 / 3};
  wire.concurrent_copies = 1;
  EXPECT_NEAR(seconds(until_both_have_come(machine)), seconds(10 * alone), 1e-6);
}

// A and C share the link; a byte of C takes three times as long. A arrives after 4, when 1 of C has been copied; the other
// two take 6 more, and B 1.
TEST(SharedLinks, AHalfDuplexLinkMayBeSlowerInOneDirection) {
  Machine machine = one_device(4_MiB);
  link(machine, disk, Machine::device(0)).bytes_per_second = {1e9, 1e9 / 3};
  EXPECT_NEAR(seconds(until_both_have_come(machine)), seconds(11 * alone), 1e-6);
}

// Three for C, then B.
TEST(SharedLinks, ADuplexLinkMayBeSlowerInOneDirection) {
  Machine machine = one_device(4_MiB);
  link(machine, disk, Machine::device(0)).duplex = true;
  EXPECT_EQ(until_both_have_come(machine), 4 * alone);
}

}  // namespace fairlead::tests
