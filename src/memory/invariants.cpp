// See invariants.hpp.
#include "memory/invariants.hpp"

#include <fairlead/error.hpp>

#include <string>
#include <vector>

namespace fairlead::memory {

void check_invariants(const State& state, const Transfers& transfers, bool idle) {
  const auto fail = [](const std::string& what) { throw Error("internal: memory: " + what); };
  std::vector<Bytes> used(state.nodes.size()), pinned(state.nodes.size()), held(state.nodes.size()),
      leaving(state.nodes.size()), prefetching(state.nodes.size()), prefetched(state.nodes.size()),
      on_fast_path(state.nodes.size()), revoked(state.nodes.size());
  transfers.for_each([&](const Copy& copy) {
    // A chain of joined copies must end at a copy that waits only for its link.
    std::size_t followed = 0;
    for (const Copy* one = &copy; one->state == Copy::State::joined; one = one->from->arriving)
      if (one->from->arriving == nullptr || ++followed > state.nodes.size())
        fail("a copy waits for a copy that never arrives");
    if (copy.revoked) revoked[index(copy.to->node)] += copy.to->block->bytes;
    if (copy.via_revoked) revoked[index(copy.via->node)] += copy.via->block->bytes;
  });
  for (std::size_t i = 0; i < state.data.size(); ++i) {
    const Datum& datum = state.data[static_cast<DatumId>(i)];
    const std::string name = "datum " + std::to_string(i);
    if (idle && datum.token_holder != nullptr) fail(name + " is still held for one commutative task");
    if (idle && datum.writers != 0) fail(name + " is still being written");
    if (idle && datum.home.pinned()) fail(name + " is still pinned at home");
    bool newest = datum.home.version == datum.version || datum.removed;
    for (const Replica* r = datum.cached; r != nullptr; r = r->next_of_datum) {
      if (r->state == ReplicaState::absent) continue;
      used[index(r->node)] += r->block->bytes;
      if (r->task_pins != 0) pinned[index(r->node)] += r->block->bytes;
      if (r->prefetched) prefetched[index(r->node)] += r->block->bytes;
      if (r->app_pins != 0) held[index(r->node)] += r->block->bytes;
      if (r->state == ReplicaState::evicting) leaving[index(r->node)] += r->block->bytes;
      if (r->state == ReplicaState::in_flight && r->arriving->cause == Cause::prefetch &&
          r->arriving->to == r)
        prefetching[index(r->node)] += r->block->bytes;
      const bool lost = state.is_lost(r->node);
      if (r->state != ReplicaState::in_flight && r->version == datum.version && !lost) newest = true;
      if (lost && (idle || !r->pinned()) && r->state != ReplicaState::in_flight)
        fail(name + " is still on a device that is lost");
      if (r->on_fast_path) on_fast_path[index(r->node)] += r->block->bytes;
      if (idle && (r->task_pins | r->source_pins | r->app_pins) != 0)
        fail(name + " is still pinned on " + state.topology.nodes[index(r->node)].name);
      if (idle && r->state == ReplicaState::evicting) fail(name + " is still being evicted");
      if (r->in_list && (r->pinned() || r->state != ReplicaState::valid))
        fail(name + " is listed as a victim but must not be evicted");
      if (!r->in_list && !r->pinned() && r->state == ReplicaState::valid)
        fail(name + " can be evicted but is not listed as a victim");
    }
    if (!newest) fail("the newest version of " + name + " is nowhere");
  }
  for (const MemoryNode& node : state.nodes) {
    if (!node.is_cache) continue;
    used[index(node.id)] += node.scratch_bytes;
    pinned[index(node.id)] += node.scratch_bytes;
    if (idle && node.scratch_bytes != 0) fail("scratch memory of a finished task is still reserved");
    if (used[index(node.id)] != node.space->used_bytes()) fail("used bytes do not add up");
    if (used[index(node.id)] > node.space->capacity()) fail("capacity exceeded");
    if (pinned[index(node.id)] != node.pinned_bytes) fail("pinned bytes do not add up");
    if (held[index(node.id)] != node.held_bytes) fail("held bytes do not add up");
    if (on_fast_path[index(node.id)] != node.fast_path_bytes) fail("bytes of the fast path do not add up");
    if (leaving[index(node.id)] != node.leaving_bytes) fail("bytes of evictions do not add up");
    if (revoked[index(node.id)] != node.revoked_bytes) fail("revoked bytes do not add up");
    if (prefetching[index(node.id)] != node.prefetching_bytes) fail("prefetched bytes do not add up");
    if (prefetched[index(node.id)] != node.prefetched_bytes) fail("unused prefetched bytes do not add up");
    if (idle && node.claimant != nullptr)
      fail("a finished task still claims " + state.topology.nodes[index(node.id)].name);
  }
}

}  // namespace fairlead::memory
