// Data that no known task will change are written back while the link is idle, and no other data.
#include <gtest/gtest.h>

#include <initializer_list>

#include "memory/bare.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {

struct WithDevice : Bare {
  WithDevice() : Bare(machine()) {}
  static Topology machine() {
    Topology made = out_of_core_topology(1, 16_MiB, 1e9, Duration{});
    add_device(made, {.name = "device", .capacity = 16_MiB});
    return with_copies(std::move(made), 4);
  }
  DatumId of_program() { return memory.add({.bytes = 1_MiB, .home = topology.user_memory()}); }
  /// No other task will change a datum.
  void expect(std::initializer_list<Task*> tasks) {
    for (const Task* task : tasks) memory.flushes().early().expect(*task);
    memory.flushes().early().all_are_known();
  }
  /// Runs the task on the device, from its admission to its end, with the engine's notifications.
  void change(Task& t) {
    run(t, device);
    memory.flushes().early().changed(t, effects);
  }
  bool at_home(DatumId id) const { return !memory.datum(id).dirty(); }
  const NodeId device = topology.devices().front();
};

}  // namespace

TEST(EarlyWriteBack, TheLastKnownChangeIsWrittenBack) {
  WithDevice bare;
  const DatumId a = bare.of_program();
  Task &first = bare.task(AccessMode::read_write, {a}), &second = bare.task(AccessMode::read_write, {a});
  bare.expect({&first, &second});
  bare.change(first);
  EXPECT_TRUE(bare.effects.started.empty());
  bare.change(second);
  ASSERT_EQ(bare.effects.started.size(), 1u);
  EXPECT_FALSE(bare.at_home(a));
  bare.land_all();
  EXPECT_TRUE(bare.at_home(a));
  EXPECT_EQ(bare.memory.residency(a, bare.device), ReplicaState::valid);  // and its replica stays
  bare.memory.check(true);
}

// A full window does not show whether later tasks change the datum.
TEST(EarlyWriteBack, NothingIsWrittenBackWhileOtherWritersMayFollow) {
  WithDevice bare;
  const DatumId a = bare.of_program();
  Task &first = bare.task(AccessMode::read_write, {a}), &second = bare.task(AccessMode::read_write, {a});
  bare.expect({&first});
  bare.memory.flushes().early().expect(second);
  bare.change(first);
  bare.change(second);
  EXPECT_TRUE(bare.effects.started.empty());
  bare.memory.flushes().early().all_are_known();
  bare.memory.flushes().early().go(bare.effects);
  EXPECT_EQ(bare.effects.started.size(), 1u);
}

// Unknown writers may be followed by others.
TEST(EarlyWriteBack, NothingIsWrittenBackForUnannouncedWriters) {
  WithDevice bare;
  const DatumId a = bare.of_program();
  bare.change(bare.task(AccessMode::read_write, {a}));
  EXPECT_TRUE(bare.effects.started.empty());
  Task &never = bare.task(AccessMode::read_write, {a}), &known = bare.task(AccessMode::read_write, {a});
  bare.expect({&never, &known});
  bare.change(known);
  EXPECT_TRUE(bare.effects.started.empty());
}

TEST(EarlyWriteBack, DataAreWrittenBackOneAtATimeWhileTheLinkIsIdle) {
  WithDevice bare;
  const DatumId a = bare.of_program(), b = bare.of_program();
  Task &of_a = bare.task(AccessMode::write, {a}), &of_b = bare.task(AccessMode::write, {b});
  bare.expect({&of_a, &of_b});
  ASSERT_TRUE(bare.admit(of_a, bare.device));
  ASSERT_TRUE(bare.admit(of_b, bare.device));
  bare.land_all();
  for (Task* task : {&of_a, &of_b}) {
    bare.memory.release(*task, memory::TaskOutcome::succeeded, bare.effects);
    bare.memory.flushes().early().changed(*task, bare.effects);
  }
  auto started = bare.take_started();
  ASSERT_EQ(started.size(), 1u);
  bare.memory.landed(*started.front(), true, bare.effects);
  EXPECT_TRUE(bare.at_home(a));
  started = bare.take_started();
  ASSERT_EQ(started.size(), 1u);
  bare.memory.landed(*started.front(), true, bare.effects);
  EXPECT_TRUE(bare.at_home(b));
}

// A task that is submitted later changes it again.
TEST(EarlyWriteBack, ALaterWriterWaitsOnlyForTheCopy) {
  WithDevice bare;
  const DatumId a = bare.of_program();
  Task &first = bare.task(AccessMode::read_write, {a}), &later = bare.task(AccessMode::read_write, {a});
  bare.expect({&first});
  bare.change(first);
  const auto started = bare.take_started();
  ASSERT_EQ(started.size(), 1u);
  bare.expect({&later});
  const bool at_once = bare.admit(later, bare.device);
  bare.memory.landed(*started.front(), true, bare.effects);
  if (!at_once) {
    EXPECT_TRUE(bare.admit(later, bare.device));
  }
  bare.memory.release(later, memory::TaskOutcome::succeeded, bare.effects);
  EXPECT_FALSE(bare.at_home(a));
  bare.memory.flushes().early().changed(later, bare.effects);
  bare.land_all();
  EXPECT_TRUE(bare.at_home(a));
  bare.memory.check(true);
}

// A disk is better used for other copies.
TEST(EarlyWriteBack, NothingIsWrittenBackEarlyToADisk) {
  WithDevice bare;
  const DatumId a = bare.datum(1_MiB);
  Task& task = bare.task(AccessMode::write, {a});
  bare.expect({&task});
  bare.change(task);
  EXPECT_TRUE(bare.effects.started.empty());
}

}  // namespace fairlead::tests
