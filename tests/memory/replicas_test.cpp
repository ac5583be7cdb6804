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

}  // namespace fairlead::tests
