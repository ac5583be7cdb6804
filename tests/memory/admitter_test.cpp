// A task is admitted in one step, without an engine: it gets all of its memory, or none.
#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {
constexpr NodeId node_of_tasks{2};  // of out_of_core_topology()
}

TEST(Admitter, ARefusedTaskHoldsNoMemoryAndClaimsTheNode) {
  Bare bare(3_MiB);
  Task& first = bare.task(AccessMode::write, {bare.datum(2_MiB)});
  Task& second = bare.task(AccessMode::write, {bare.datum(1_MiB), bare.datum(1_MiB)});
  ASSERT_TRUE(bare.admit(first));
  EXPECT_FALSE(bare.admit(second));
  EXPECT_EQ(bare.memory.node(node_of_tasks).claimant, &second);
  EXPECT_EQ(bare.memory.node(node_of_tasks).pinned_bytes, 2_MiB);
  EXPECT_EQ(bare.memory.node(node_of_tasks).space->used_bytes(), 2_MiB);
  bare.memory.forget_claim(second);
  EXPECT_EQ(bare.memory.node(node_of_tasks).claimant, nullptr);
}

TEST(Admitter, EffectsAreAppendedToTheCallersEffects) {
  Bare bare(3_MiB);
  const DatumId a = bare.datum(1_MiB);
  Task& reader = bare.task(AccessMode::read, {a});
  memory::Effects own;
  ASSERT_EQ(bare.memory.admit(reader, node_of_tasks, true, own), memory::Admission::admitted);
  EXPECT_EQ(own.started.size(), 1u);
  EXPECT_EQ(reader.pending_copies, 1);
  bare.memory.landed(*own.started.front(), true, own);
  EXPECT_EQ(own.ready, (std::vector{&reader}));
  EXPECT_TRUE(bare.effects.started.empty());
}

TEST(Admitter, ACancelledReaderIsNotNotifiedOfItsCopy) {
  Bare bare(3_MiB);
  Task& reader = bare.task(AccessMode::read, {bare.datum(1_MiB)});
  ASSERT_TRUE(bare.admit(reader));
  bare.memory.release(reader, memory::TaskOutcome::failed, bare.effects);
  bare.land_all();
  EXPECT_TRUE(bare.effects.ready.empty());
  bare.memory.check(true);
}

}  // namespace fairlead::tests
