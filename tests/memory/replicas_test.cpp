// Replicas without copies and tasks: their space, their pins, and when they are dropped.
#include "memory/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

// Space is reserved once and released once, and a pinned replica is counted once, however often it is pinned.
TEST(Replicas, SpaceAndPinsAddUp) {
  Parts parts(4_MiB);
  memory::Replica& replica = parts.newest(parts.datum(1_MiB));
  parts.coherence.pin(replica, parts.ram());
  parts.coherence.pin(replica, parts.ram());
  EXPECT_EQ(parts.ram().pinned_bytes, 1_MiB);
  parts.coherence.unpin(replica, parts.ram());
  EXPECT_EQ(parts.ram().pinned_bytes, 1_MiB);
  EXPECT_FALSE(replica.in_list);
  parts.coherence.unpin(replica, parts.ram());
  EXPECT_EQ(parts.ram().pinned_bytes, 0u);
  EXPECT_EQ(parts.ram().may_leave->oldest(), &replica);
  parts.coherence.drop(replica, DropReason::evicted);
  EXPECT_EQ(parts.ram().space->used_bytes(), 0u);
  EXPECT_EQ(parts.ram().may_leave->oldest(), nullptr);
}

TEST(Replicas, AReplicaThatDoesNotFitReservesNothing) {
  Parts parts(1_MiB);
  memory::Replica& replica = parts.cached(parts.datum(2_MiB));
  EXPECT_FALSE(parts.coherence.reserve(replica, parts.ram(), ReplicaState::valid));
  EXPECT_EQ(replica.state, ReplicaState::absent);
  EXPECT_EQ(parts.ram().space->used_bytes(), 0u);
}

// It was the newest replica until the home was written: it is dropped with its last pin.
TEST(Replicas, AStaleReplicaIsDroppedWithItsLastPin) {
  Parts parts(4_MiB);
  const DatumId a = parts.datum(1_MiB);
  memory::Datum& datum = parts.state.data[a];
  memory::Replica& replica = parts.newest(a);
  parts.coherence.pin(replica, parts.ram());
  parts.coherence.wrote(datum, datum.home);
  EXPECT_EQ(replica.state, ReplicaState::valid);
  parts.coherence.unpin(replica, parts.ram());
  EXPECT_EQ(replica.state, ReplicaState::absent);
}

// Pins of holds are counted separately: a task's pin is converted to one, and back.
TEST(Replicas, APinOfATaskBecomesAPinOfAHold) {
  Parts parts(4_MiB);
  memory::Replica& replica = parts.newest(parts.datum(1_MiB));
  parts.coherence.pin(replica, parts.ram());
  parts.coherence.hold(replica, parts.ram());
  EXPECT_EQ(parts.ram().pinned_bytes, 0u);
  EXPECT_EQ(parts.ram().held_bytes, 1_MiB);
  EXPECT_TRUE(replica.pinned());
  parts.coherence.unhold(replica, parts.ram());
  EXPECT_EQ(parts.ram().pinned_bytes, 1_MiB);
  EXPECT_EQ(parts.ram().held_bytes, 0u);
}

// As if tasks had left it there: it is read without a copy, and written back on eviction if it is newer than its home.
TEST(Replicas, ThatArePlacedEqualThoseThatTasksLeave) {
  Bare bare(2_MiB);
  const NodeId ram = bare.topology.host();
  const DatumId clean = bare.datum(1_MiB), changed = bare.datum(1_MiB), too_much = bare.datum(1_MiB);
  bare.memory.place(clean, ram, false);
  bare.memory.place(changed, ram, true);
  bare.memory.place(too_much, ram, true);
  bare.memory.check(true);
  EXPECT_EQ(bare.memory.residency(clean, ram), ReplicaState::valid);
  EXPECT_EQ(bare.memory.residency(changed, ram), ReplicaState::valid);
  EXPECT_EQ(bare.memory.residency(too_much, ram), ReplicaState::absent);
  EXPECT_FALSE(bare.memory.datum(clean).dirty());
  EXPECT_TRUE(bare.memory.datum(changed).dirty());
  ASSERT_TRUE(bare.admit(bare.task(AccessMode::read, {changed})));
  EXPECT_TRUE(bare.take_started().empty());
  bare.memory.release(bare.tasks.back(), memory::TaskOutcome::succeeded, bare.effects);
  // Others need the space: only one of the two must be written back.
  Task& both = bare.task(AccessMode::read, {bare.datum(1_MiB), bare.datum(1_MiB)});
  for (bool admitted = bare.admit(both); !admitted; admitted = bare.admit(both)) {
    const auto started = bare.take_started();
    ASSERT_EQ(started.size(), 1u);
    EXPECT_EQ(started[0]->cause, memory::Cause::eviction);
    EXPECT_EQ(started[0]->datum, changed);
    bare.memory.landed(*started[0], true, bare.effects);
  }
  bare.land_all();
  bare.memory.release(both, memory::TaskOutcome::succeeded, bare.effects);
  EXPECT_FALSE(bare.memory.datum(changed).dirty());
}

}  // namespace fairlead::tests
