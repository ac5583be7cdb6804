// A hold gets its data like a task, keeps them until it is released, and can be cancelled at any time before.
#include "engine/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

struct Holding : EngineParts {
  explicit Holding(Bytes ram = 4_MiB) : EngineParts(1, ram) {}
  Task& hold(AccessMode mode, DatumId id) { return task(mode, {id}, TaskRole::hold); }
  std::uint32_t version(DatumId id) const { return memory.datum(id).version; }
  Bytes pinned() const { return memory.node(view.host()).pinned_bytes; }
  Bytes held() const { return memory.node(view.host()).held_bytes; }
};

}  // namespace

TEST(HoldRole, IsGrantedWhenItsDataHaveArrivedWithoutAPolicy) {
  Holding it;
  Task& hold = it.hold(AccessMode::read, it.datum(1_MiB));
  it.ready(hold);
  EXPECT_TRUE(it.out.granted.empty());
  EXPECT_EQ(it.pseudo_tasks.arriving().size(), 1u);
  it.land();
  EXPECT_EQ(it.out.granted, std::vector{&hold});
  EXPECT_FALSE(it.deliveries.none());
  EXPECT_TRUE(it.noting.notes.empty());
  EXPECT_TRUE(it.world.notes.empty());
}

TEST(HoldRole, KeepsItsDataUntilItIsReleased) {
  Holding it(1_MiB);
  const DatumId a = it.datum(1_MiB);
  Task& hold = it.hold(AccessMode::read_write, a);
  Task& task = it.task(AccessMode::read, {it.datum(1_MiB)});
  it.ready(hold);
  it.land();
  it.ready(task);
  it.land();
  EXPECT_TRUE(it.world.notes.empty());  // there is no memory for the task
  const std::uint32_t before = it.version(a);
  it.release(hold);
  EXPECT_EQ(it.take_completed(), std::vector{&hold});
  EXPECT_EQ(it.version(a), before + 1);
  EXPECT_TRUE(it.pseudo_tasks.none());
  it.land();
  EXPECT_EQ(it.world.notes, (Notes{"launch 2 on 0"}));
}

TEST(HoldRole, ThatIsReleasedUnusedHasWrittenNothing) {
  Holding it;
  const DatumId a = it.datum(1_MiB);
  Task& hold = it.hold(AccessMode::read_write, a);
  it.ready(hold);
  it.land();
  const std::uint32_t before = it.version(a);
  it.release(hold, true);
  EXPECT_EQ(it.version(a), before);
  EXPECT_FALSE(it.poisoned(a));
}

TEST(HoldRole, ThatIsCancelledBeforeItIsReadyEndsWhenItIsReady) {
  Holding it;
  Task& hold = it.hold(AccessMode::read_write, it.datum(1_MiB));
  it.release(hold, true);
  EXPECT_TRUE(it.take_completed().empty());  // its successors must wait for its predecessors
  it.ready(hold);
  EXPECT_EQ(it.take_completed(), std::vector{&hold});
  EXPECT_TRUE(it.out.copies.empty());
}

TEST(HoldRole, ThatIsCancelledWhileItWaitsForMemoryReleasesItsClaim) {
  Holding it(1_MiB);
  Task& running = it.task(AccessMode::write, {it.datum(1_MiB)});
  Task& hold = it.hold(AccessMode::write, it.datum(1_MiB));
  it.ready(running);
  it.ready(hold);
  EXPECT_EQ(it.memory.node(it.view.host()).claimant, &hold);
  it.release(hold, true);
  EXPECT_EQ(it.take_completed(), std::vector{&hold});
  EXPECT_EQ(it.memory.node(it.view.host()).claimant, nullptr);
  EXPECT_TRUE(it.pseudo_tasks.none());
}

TEST(HoldRole, ThatIsCancelledWhileItsCopiesAreInFlightEndsWhenTheyHaveArrived) {
  Holding it;
  Task& hold = it.hold(AccessMode::read, it.datum(1_MiB));
  it.ready(hold);
  it.release(hold, true);
  it.land();
  EXPECT_EQ(it.take_completed(), std::vector{&hold});
  EXPECT_TRUE(it.out.granted.empty());
  it.memory.check(true);
}

// Its result is missing for its successors, too.
TEST(HoldRole, IsRefusedIfItReadsAPoisonedDatum) {
  Holding it;
  const DatumId a = it.datum(1_MiB);
  it.memory.poison().mark_outputs(it.task(AccessMode::write, {a}));
  const DatumId b = it.datum(1_MiB);
  Task& hold = it.task(AccessMode::read, {a, b}, TaskRole::hold);
  hold.inline_access[1].mode = AccessMode::write;
  it.ready(hold);
  EXPECT_EQ(it.take_completed(), std::vector{&hold});
  EXPECT_TRUE(hold.cancelled);
  EXPECT_TRUE(it.poisoned(b));
}

TEST(HoldRole, OfACancelledFlowWaitsForNoMemory) {
  Holding it(1_MiB);
  Task& running = it.task(AccessMode::write, {it.datum(1_MiB)});
  Task& hold = it.hold(AccessMode::read, it.datum(1_MiB));
  it.ready(running);
  it.ready(hold);
  it.cancel(hold);
  it.memory.note_change();
  it.go_on();
  EXPECT_EQ(it.take_completed(), std::vector{&hold});
  EXPECT_EQ(it.memory.node(it.view.host()).claimant, nullptr);
}

TEST(HoldRole, EndsIfItsDataCannotBeCopied) {
  Holding it;
  const DatumId a = it.datum(1_MiB);
  Task& hold = it.hold(AccessMode::read_write, a);
  it.ready(hold);
  it.land(false);
  EXPECT_EQ(it.take_completed(), std::vector{&hold});
  EXPECT_NE(hold.failure, nullptr);
  EXPECT_TRUE(it.poisoned(a));
  EXPECT_TRUE(it.pseudo_tasks.none());
  it.memory.check(true);
}

}  // namespace fairlead::tests
