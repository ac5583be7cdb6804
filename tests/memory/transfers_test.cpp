// Copies without tasks: their pins, and the state after they are cancelled or finish.
#include "memory/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

TEST(Transfers, ACopyPinsItsSourceUntilItHasRead) {
  Parts parts(4_MiB);
  const DatumId a = parts.datum(1_MiB);
  memory::Copy& copy = parts.start_copy(a);
  EXPECT_EQ(parts.effects.started, (std::vector{&copy}));
  EXPECT_EQ(parts.home(a).source_pins, 1u);
  EXPECT_EQ(parts.cached(a).state, ReplicaState::in_flight);
  EXPECT_EQ(parts.cached(a).arriving, &copy);
  parts.transfers.ended(copy);
  parts.transfers.landed(copy, parts.cached(a), copy.version);
  parts.transfers.detach(copy);
  EXPECT_EQ(parts.home(a).source_pins, 0u);
  EXPECT_EQ(parts.cached(a).arriving, nullptr);
  EXPECT_EQ(parts.cached(a).state, ReplicaState::valid);
  EXPECT_EQ(parts.cached(a).version, 1u);
}

TEST(Transfers, ACancelledCopyLeavesNoState) {
  Parts parts(4_MiB, 1);
  const DatumId first = parts.datum(1_MiB), a = parts.datum(1_MiB);
  parts.start_copy(first);
  memory::Copy& waiting = parts.start_copy(a, memory::Cause::prefetch);
  EXPECT_EQ(parts.ram().prefetching_bytes, 1_MiB);
  parts.transfers.abandon(waiting, DropReason::prefetch_cancelled);
  EXPECT_EQ(parts.ram().prefetching_bytes, 0u);
  EXPECT_EQ(parts.ram().space->used_bytes(), 1_MiB);
  EXPECT_EQ(parts.home(a).source_pins, 0u);
  EXPECT_EQ(parts.home(a).outgoing, nullptr);
  EXPECT_EQ(parts.cached(a).state, ReplicaState::absent);
  EXPECT_EQ(parts.effects.started.size(), 1u);
}

// A is written at home while one copy of it is in flight and B's is queued: A's copy is marked, and its result dropped.
TEST(Transfers, AWriteInvalidatesCopiesInFlightAndCancelsQueuedOnes) {
  Parts parts(4_MiB, 1);
  const DatumId a = parts.datum(1_MiB), b = parts.datum(1_MiB);
  memory::Copy& under_way = parts.start_copy(a);
  parts.start_copy(b);
  parts.transfers.written(parts.state.data[a], parts.home(a));
  parts.transfers.written(parts.state.data[b], parts.home(b));
  EXPECT_TRUE(under_way.overtaken);
  EXPECT_EQ(parts.cached(a).state, ReplicaState::in_flight);
  EXPECT_EQ(parts.cached(b).state, ReplicaState::absent);
  EXPECT_EQ(parts.home(b).source_pins, 0u);
}

TEST(Transfers, ACopyThatIsNeededAgainKeepsItsSpace) {
  Parts parts(4_MiB);
  const DatumId a = parts.datum(1_MiB), b = parts.datum(1_MiB);
  parts.start_copy(a, memory::Cause::prefetch);
  Task other;
  other.accesses_begin = other.inline_access.data();
  other.inline_access[0].datum = b;
  other.access_count = 1;
  parts.transfers.revoke_prefetches(parts.ram(), other);
  EXPECT_EQ(parts.ram().revoked_bytes, 1_MiB);
  parts.transfers.want(parts.cached(a));
  EXPECT_EQ(parts.ram().revoked_bytes, 0u);
}

}  // namespace fairlead::tests
