// A switch between a whole datum and its parts writes the former view back, even after failures, and takes no memory.
#include "engine/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

constexpr NodeId ram_of_switch{2};  // of out_of_core_topology()

/// A whole datum in view, and a part of it out of view.
struct Switching : EngineParts {
  explicit Switching(Bytes ram = 4_MiB) : EngineParts(1, ram) {
    to_parts.inline_access[1].mode = AccessMode::write;
  }
  void run(Task& task) {
    ready(task);
    land();
    over(task);
    world.notes.clear();
  }

  DatumId whole = datum(1_MiB);
  DatumId part = memory.add({.bytes = 1_MiB, .home = bare.topology.store(), .out_of_view = true});
  Task& to_parts = task(AccessMode::read_write, {whole, part}, TaskRole::view_switch);
};

/// Two parts in view, in the program's memory, and the whole out of view. Three devices, of which the first is the host;
/// each link takes one copy at a time.
struct ThreeDevices : EngineParts {
  ThreeDevices() : EngineParts(Bare::with_copies(devices({4_MiB, 4_MiB, 4_MiB}).topology, 1)) {
    to_whole.inline_access[2].mode = AccessMode::write;
  }
  DatumId in_user_memory(bool out_of_view) {
    return memory.add({.bytes = 1_MiB, .home = NodeId{0}, .out_of_view = out_of_view});
  }
  /// The newest version exists only on this node.
  void change(DatumId id, NodeId on) {
    bare.run(task(AccessMode::write, {id}), on);
    ASSERT_TRUE(memory.datum(id).dirty());
  }
  void lose(NodeId node) {
    memory.losses().announce(node, "it burns");
    memory.losses().lose(node, effects);
    go_on();
  }
  /// Ends the copy of this part.
  void end_copy(DatumId id, bool well) {
    const auto copy =
        std::ranges::find_if(out.copies, [&](const memory::Copy* one) { return one->datum == id; });
    ASSERT_NE(copy, out.copies.end());
    memory::Copy& over = **copy;
    out.copies.erase(copy);
    over.error_number = 5;
    memory.landed(over, well, effects);
    go_on();
  }

  const DatumId a = in_user_memory(false), b = in_user_memory(false), whole = in_user_memory(true);
  Task& to_whole = task(AccessMode::read_write, {a, b, whole}, TaskRole::view_switch);
};

}  // namespace

TEST(ViewSwitchRole, WritesChangedDataBackBeforeItEnds) {
  Switching it;
  it.run(it.task(AccessMode::write, {it.whole}));
  ASSERT_TRUE(it.memory.datum(it.whole).dirty());
  it.ready(it.to_parts);
  EXPECT_TRUE(it.take_completed().empty());
  it.land();
  EXPECT_EQ(it.take_completed(), std::vector{&it.to_parts});
  EXPECT_FALSE(it.memory.datum(it.whole).dirty());
  EXPECT_EQ(it.memory.residency(it.whole, ram_of_switch), ReplicaState::absent);  // it is stale now
  EXPECT_TRUE(it.memory.datum(it.whole).out_of_view);
  EXPECT_FALSE(it.memory.datum(it.part).out_of_view);
  EXPECT_TRUE(it.world.notes.empty());
  EXPECT_TRUE(it.noting.notes.size() == 1);  // of the previous task
}

// Other tasks may pass a claimant of the memory only a limited number of times. A switch takes no memory, so it always may.
TEST(ViewSwitchRole, WaitsForNoMemoryHoweverOften) {
  Switching it(1_MiB);
  Task& running = it.task(AccessMode::write, {it.datum(1_MiB)});
  Task& waiting = it.task(AccessMode::write, {it.datum(1_MiB)}, TaskRole::hold);
  it.ready(running);
  it.ready(waiting);
  for (int i = 0; i < 100; ++i) {
    Task& again = it.task(AccessMode::read_write, {it.whole}, TaskRole::view_switch);
    it.ready(again);
    ASSERT_EQ(it.take_completed(), std::vector{&again});
  }
  EXPECT_EQ(it.memory.node(ram_of_switch).claimant, &waiting);
}

// Dirty data of one view must not be written back after the other view was written.
TEST(ViewSwitchRole, RunsEvenIfItsFlowIsCancelled) {
  Switching it;
  it.run(it.task(AccessMode::write, {it.whole}));
  it.cancel(it.to_parts);
  it.ready(it.to_parts);
  it.land();
  EXPECT_EQ(it.take_completed(), std::vector{&it.to_parts});
  EXPECT_FALSE(it.to_parts.cancelled);
  EXPECT_FALSE(it.poisoned(it.part));
  EXPECT_TRUE(it.memory.datum(it.whole).out_of_view);
}

TEST(ViewSwitchRole, PropagatesPoison) {
  Switching it;
  it.memory.poison().mark_outputs(it.task(AccessMode::write, {it.whole}));
  it.ready(it.to_parts);
  EXPECT_EQ(it.take_completed(), std::vector{&it.to_parts});
  EXPECT_TRUE(it.poisoned(it.part));
}

// The only replica with the value keeps it, and the run stops.
TEST(ViewSwitchRole, StopsTheRunIfAWriteBackFails) {
  Switching it;
  it.run(it.task(AccessMode::write, {it.whole}));
  it.ready(it.to_parts);
  for (memory::Copy* copy : it.out.copies) copy->error_number = 5;
  it.land(false);
  EXPECT_EQ(it.take_completed(), std::vector{&it.to_parts});
  EXPECT_TRUE(it.out.stopped);
  EXPECT_EQ(it.stop.datum(), it.whole);
  EXPECT_TRUE(it.poisoned(it.part));
}

// A task that writes the whole writes to the destination of the other part's copy.
TEST(ViewSwitchRole, EndsAfterAllCopiesWhenTheSourceOfOneIsLost) {
  ThreeDevices it;
  it.change(it.a, Machine::device(1));
  it.change(it.b, Machine::device(2));
  it.ready(it.to_whole);
  it.lose(Machine::device(1));
  EXPECT_TRUE(it.take_completed().empty());
  it.end_copy(it.a, false);
  EXPECT_TRUE(it.take_completed().empty());
  it.end_copy(it.b, true);
  EXPECT_EQ(it.take_completed(), std::vector{&it.to_whole});
  EXPECT_TRUE(it.poisoned(it.whole));
  EXPECT_TRUE(it.memory.datum(it.a).out_of_view);
  it.memory.check(true);
}

// A copy from a lost device may move bytes until its end is reported. A copy that has not started will not.
TEST(ViewSwitchRole, WaitsForACopyInFlightFromALostDevice) {
  ThreeDevices it;
  it.change(it.a, Machine::device(1));
  it.change(it.b, Machine::device(1));
  it.ready(it.to_whole);
  ASSERT_EQ(it.out.copies.size(), 1u);
  it.lose(Machine::device(1));
  EXPECT_TRUE(it.take_completed().empty());
  it.end_copy(it.out.copies.front()->datum, true);  // reported late
  EXPECT_EQ(it.take_completed(), std::vector{&it.to_whole});
  EXPECT_TRUE(it.poisoned(it.whole));
  EXPECT_TRUE(it.out.copies.empty());
  it.memory.check(true);
}

TEST(ViewSwitchRole, EndsAfterAllCopiesWhenOneOfThemFails) {
  ThreeDevices it;
  it.change(it.a, Machine::device(1));
  it.change(it.b, Machine::device(2));
  it.ready(it.to_whole);
  it.end_copy(it.a, false);
  it.end_copy(it.a, false);  // the second attempt
  EXPECT_TRUE(it.out.stopped);
  EXPECT_TRUE(it.take_completed().empty());
  it.end_copy(it.b, true);
  EXPECT_EQ(it.take_completed(), std::vector{&it.to_whole});
  EXPECT_TRUE(it.poisoned(it.whole));
}

// The switch is on RAM, where the whole was to be prefetched; but the home has all data that the switch needs.
TEST(ViewSwitchRole, IgnoresAFailedCopyFromTheHomeToItsNode) {
  Switching it;
  ASSERT_TRUE(it.bare.prefetch(it.whole));
  it.go_on();
  it.ready(it.to_parts);
  EXPECT_TRUE(it.take_completed().empty());
  it.land(false);
  EXPECT_EQ(it.take_completed(), std::vector{&it.to_parts});
  EXPECT_EQ(it.to_parts.failure, nullptr);
  EXPECT_FALSE(it.poisoned(it.part));
}

}  // namespace fairlead::tests
