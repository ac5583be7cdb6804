// Memory without an engine: the test completes copies.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "machine/topology.hpp"
#include "memory/memory.hpp"
#include "schedule/policies.hpp"

namespace fairlead::tests {

/// RAM over a disk, or another machine. Tasks are admitted to RAM by default.
struct Bare {
  explicit Bare(Topology machine) : topology(std::move(machine)), memory(topology, *policy) {}
  explicit Bare(Bytes capacity, unsigned concurrent_copies = 8)
      : Bare(with_copies(out_of_core_topology(1, capacity, 1e9, Duration{}), concurrent_copies)) {}

  DatumId datum(Bytes bytes) { return memory.add({.bytes = bytes, .home = topology.store()}); }
  Task& task(AccessMode mode, std::initializer_list<DatumId> data) {
    Task& made = tasks.emplace_back();
    made.accesses_begin = made.inline_access.data();
    for (const DatumId id : data) {
      made.inline_access[made.access_count].datum = id;
      made.inline_access[made.access_count++].mode = mode;
    }
    made.id = static_cast<TaskId>(tasks.size());
    return made;
  }
  bool admit(Task& t) { return admit(t, topology.host()); }
  bool admit(Task& t, NodeId node) {
    return memory.admit(t, node, true, effects) == memory::Admission::admitted;
  }
  std::vector<memory::Copy*> take_started() { return std::exchange(effects.started, {}); }
  void land_all() {
    for (auto started = take_started(); !started.empty(); started = take_started())
      for (memory::Copy* copy : started) memory.landed(*copy, true, effects);
  }
  bool prefetch(DatumId id) { return prefetch(id, topology.host()); }
  bool prefetch(DatumId id, NodeId node) { return memory.prefetches().fetch(id, node, effects); }
  /// Runs the task from its admission to its end.
  void run(Task& t) { run(t, topology.host()); }
  void run(Task& t, NodeId node) {
    ASSERT_TRUE(admit(t, node));
    land_all();
    memory.release(t, memory::TaskOutcome::succeeded, effects);
  }
  Bytes unused(DropReason reason) const {
    return memory.node(topology.host()).unused_prefetch_bytes.get()[static_cast<std::size_t>(reason)];
  }
  static Topology with_copies(Topology machine, unsigned at_a_time) {
    for (LinkSpec& link : machine.links) link.concurrent_copies = at_a_time;
    return machine;
  }

  const Topology topology;
  const std::unique_ptr<Policy> policy = schedule::make_policy("eager");
  memory::Memory memory;
  memory::Effects effects;
  std::deque<Task> tasks;
};

}  // namespace fairlead::tests
