// A replica's life without copies and tasks: its space, who keeps it there, and when it goes.
#include "memory/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

// Space is taken once and given back once, and what is pinned is counted once, however often.
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

TEST(Replicas, WhatDoesNotFitTakesNothing) {
  Parts parts(1_MiB);
  memory::Replica& replica = parts.cached(parts.datum(2_MiB));
  EXPECT_FALSE(parts.coherence.reserve(replica, parts.ram(), ReplicaState::valid));
  EXPECT_EQ(replica.state, ReplicaState::absent);
  EXPECT_EQ(parts.ram().space->used_bytes(), 0u);
}

// It was the newest, until the home was written: nobody wants it once its last pin is gone.
TEST(Replicas, AnOldOneGoesWithItsLastPin) {
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

// A hold's pin is of a kind of its own: the task's pin becomes one, and back.
TEST(Replicas, APinOfATaskBecomesOneOfAHold) {
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

// As if tasks had left it there: read without a copy; what is newer than at home is written there when it leaves.
TEST(Replicas, ThatArePlacedAreAsIfTasksHadLeftThemThere) {
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
  bare.memory.release(bare.tasks.back(), memory::Outcome::succeeded, bare.effects);
  // Others need the room: only one of the two has to be written.
  Task& both = bare.task(AccessMode::read, {bare.datum(1_MiB), bare.datum(1_MiB)});
  for (bool admitted = bare.admit(both); !admitted; admitted = bare.admit(both)) {
    const auto started = bare.take_started();
    ASSERT_EQ(started.size(), 1u);
    EXPECT_EQ(started[0]->cause, memory::Cause::eviction);
    EXPECT_EQ(started[0]->datum, changed);
    bare.memory.landed(*started[0], true, bare.effects);
  }
  bare.land_all();
  bare.memory.release(both, memory::Outcome::succeeded, bare.effects);
  EXPECT_FALSE(bare.memory.datum(changed).dirty());
}

}  // namespace fairlead::tests
