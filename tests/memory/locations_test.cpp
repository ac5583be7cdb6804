// Memory reports locations by node and offset, and passes the program's addresses through.
#include "memory/location.hpp"

#include <gtest/gtest.h>

#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

using memory::Location;
using memory::location_of;

/// An address that must not be dereferenced.
void* nowhere() { return reinterpret_cast<void*>(std::uintptr_t{0x10}); }

DatumId of_the_program(Bare& bare) {
  return bare.memory.add({.bytes = 1_MiB, .home = bare.topology.user_memory(), .address = nowhere()});
}

}  // namespace

TEST(Locations, OfATasksDataAreOffsetsOnItsNode) {
  Bare bare(3_MiB);
  Task& task = bare.task(AccessMode::read, {bare.datum(1_MiB), bare.datum(1_MiB)});
  task.scratch_bytes = 1_MiB;
  ASSERT_TRUE(bare.admit(task));
  bare.land_all();
  const Location first = location_of(task, task.accesses()[0]),
                 second = location_of(task, task.accesses()[1]);
  EXPECT_EQ(first.node, bare.topology.host());
  EXPECT_EQ(first.users, nullptr);
  EXPECT_EQ(first.offset + second.offset + task.scratch, 3_MiB);  // 0, 1 and 2 MiB, in some order
  EXPECT_NE(first, second);
  bare.memory.release(task, memory::TaskOutcome::succeeded, bare.effects);
  bare.memory.check(true);  // its scratch memory was released
}

TEST(Locations, OfDataUsedInPlaceAreTheProgramsAddresses) {
  Bare bare(3_MiB);
  Task& task = bare.task(AccessMode::read_write, {of_the_program(bare)});
  ASSERT_TRUE(bare.admit(task));
  EXPECT_EQ(location_of(task, task.accesses()[0]), Location{.users = nowhere()});
}

TEST(Locations, OfACopyAreItsSourceAndItsDestination) {
  Topology machine = out_of_core_topology(1, 3_MiB, 1e9, {});
  const NodeId device = add_device(machine, {.name = "device", .capacity = 2_MiB});
  Bare bare(machine);
  Task& task = bare.task(AccessMode::read, {of_the_program(bare)});
  ASSERT_TRUE(bare.admit(task, device));
  const auto started = bare.take_started();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0]->from->location(),
            (Location{.node = bare.topology.user_memory(), .users = nowhere()}));
  EXPECT_EQ(started[0]->to->location(), location_of(task, task.accesses()[0]));
}

TEST(Locations, OfDataOnTheFastPathDoNotChange) {
  Bare bare(3_MiB);
  const NodeId ram = bare.topology.host();
  const DatumId cached = bare.datum(1_MiB), in_place = of_the_program(bare);
  const auto at = bare.memory.fast_path().keep(cached, ram, false);
  ASSERT_TRUE(at);
  EXPECT_EQ(*at, bare.memory.state().data.find_on(cached, ram)->location());
  EXPECT_EQ(bare.memory.fast_path().keep(cached, ram, false), at);
  EXPECT_EQ(bare.memory.fast_path().keep(in_place, ram, true)->users, nowhere());
  EXPECT_FALSE(bare.memory.fast_path().keep(bare.datum(3_MiB), ram, false));  // no space
}

}  // namespace fairlead::tests
