// Replicas and copies without the rest of memory: RAM over a disk, driven by the test.
#pragma once
#include <gtest/gtest.h>

#include <memory>

#include "machine/topology.hpp"
#include "memory/bare.hpp"
#include "memory/transfers.hpp"
#include "schedule/policies.hpp"

namespace fairlead::tests {

struct Parts {
  explicit Parts(Bytes capacity, unsigned concurrent_copies = 8)
      : topology(Bare::with_copies(out_of_core_topology(1, capacity, 1e9, Duration{}), concurrent_copies)),
        state(topology, *policy),
        coherence(state),
        transfers(state, coherence) {}

  DatumId datum(Bytes bytes) { return state.add({.bytes = bytes, .home = topology.store()}); }
  memory::Replica& home(DatumId id) { return state.data[id].home; }
  memory::Replica& cached(DatumId id) { return state.data.cached_on(id, topology.host()); }
  memory::MemoryNode& ram() { return state.node(topology.host()); }
  /// Reserves space, and starts a copy into it.
  memory::Copy& start_copy(DatumId id, memory::Cause cause = memory::Cause::demand) {
    EXPECT_TRUE(coherence.reserve(cached(id), ram(), ReplicaState::absent));
    memory::Copy& copy = transfers.make(home(id), cached(id), cause);
    transfers.enqueue(copy, effects);
    return copy;
  }
  /// Reserves space with the newest version.
  memory::Replica& newest(DatumId id) {
    memory::Replica& replica = cached(id);
    EXPECT_TRUE(coherence.reserve(replica, ram(), ReplicaState::valid));
    coherence.wrote(state.data[id], replica);
    return replica;
  }

  const Topology topology;
  const std::unique_ptr<Policy> policy = schedule::make_policy("eager");
  memory::State state;
  memory::Coherence coherence;
  memory::Transfers transfers;
  memory::Effects effects;
};

}  // namespace fairlead::tests
