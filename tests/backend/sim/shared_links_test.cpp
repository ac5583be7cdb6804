// What copies at the same time cost each other on the simulated machine. A MiB takes 1,048,576 ns over a wire
// that it has for itself.
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

using namespace std::chrono_literals;
constexpr Time alone = 1'048'576ns;
constexpr NodeId disk{1};

LinkSpec& link(Machine& machine, NodeId a, NodeId b) {
  return machine.topology.links[index(machine.topology.link_between(a, b))];
}

/// There is room for A beside C, which was changed before, and for B when C has gone home. How long until a
/// task reads B.
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

/// Device 1 shares its port to the other two: how long until A has come to it from device 0 while B, as
/// large, goes from device `from` to device `to`.
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

TEST(SharedLinks, DevicesWithWiresOfTheirOwnDoNotWait) {
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

TEST(SharedLinks, DevicesBehindABusShareItWhateverTheirWires) {
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
  // B has its wire's quarter all the time, A the rest of the bus: three quarters.
  EXPECT_EQ(world.started_at(first), 4 * alone);
  EXPECT_EQ(world.started_at(second), 4 * alone);
}

// Whether copies go to the device of the larger number or from it says nothing of the port.
TEST(SharedLinks, APortHasADirectionIntoItsDeviceAndOneOutOfIt) {
  EXPECT_EQ(until_a_is_through_the_port(1, 2), alone);
  EXPECT_EQ(until_a_is_through_the_port(1, 0), alone);
  EXPECT_EQ(until_a_is_through_the_port(2, 1), 2 * alone);
}

// A comes while C goes: both take twice as long, until A has come. Then C has the wire for itself for two
// MiB, and B after it.
TEST(SharedLinks, DirectionsShareAWire) { EXPECT_EQ(until_both_have_come(one_device(4_MiB)), 5 * alone); }

// C goes at a third of the speed at which A comes, each as if the other were not there; then B. The link takes one
// copy at a time in each direction: B and A do not wait for C's turn, only for its space.
TEST(SharedLinks, ADuplexWireHasASpeedAndATurnInEachDirection) {
  Machine machine = one_device(4_MiB);
  LinkSpec& wire = link(machine, disk, Machine::device(0));
  wire.duplex = true;
  wire.bytes_per_second = {1e9, 1e9 / 3};
  wire.concurrent_copies = 1;
  EXPECT_NEAR(seconds(until_both_have_come(machine)), seconds(10 * alone), 1e-6);
}

// A and C share the wire: a byte of C costs three. Until A has come, after four, C has gone by one; for its other two it
// takes six more, and B one.
TEST(SharedLinks, AWireThatIsNotDuplexMayBeSlowerInOneDirection) {
  Machine machine = one_device(4_MiB);
  link(machine, disk, Machine::device(0)).bytes_per_second = {1e9, 1e9 / 3};
  EXPECT_NEAR(seconds(until_both_have_come(machine)), seconds(11 * alone), 1e-6);
}

// Three for C, then B.
TEST(SharedLinks, UnlessItIsDuplex) {
  Machine machine = one_device(4_MiB);
  link(machine, disk, Machine::device(0)).duplex = true;
  EXPECT_EQ(until_both_have_come(machine), 4 * alone);
}

}  // namespace fairlead::tests
