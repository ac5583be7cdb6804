// The life of data and replicas apart from admission and copies: registration, pins, writes, and the
// invariants.
#include "memory/memory.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace fairlead::memory {

Memory::Memory(const Topology& topology, Policy& policy)
    : topology_(topology),
      routes_(topology_),
      policy_(&policy),
      tell_residency_(includes(policy.interests(), Interest::residency)),
      links_(topology_, routes_),
      away_(topology_),
      data_on_other_homes_(topology.nodes.size()),
      data_bytes_(topology.nodes.size()) {
  for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
    const NodeSpec& spec = topology_.nodes[i];
    MemoryNode& node = nodes_.emplace_back(spec.role == NodeRole::cache ? spec.capacity : 0);
    node.id = static_cast<NodeId>(i);
    node.is_cache = spec.role == NodeRole::cache;
    for (const NodeId home : spec.reaches) node.reaches |= std::uint64_t{1} << index(home);
  }
}

DatumId Memory::add(const DatumSpec& spec) {
  ensure(spec.generator == nullptr || std::ranges::any_of(topology_.links,
                                                          [&](const LinkSpec& link) {
                                                            return link.computes && link.first == spec.home;
                                                          }),
         "data are computed only where there is a link for that");
  for (const MemoryNode& node : nodes_) {
    if (reaches(node.id, spec.home)) continue;
    ++data_on_other_homes_[index(node.id)];
    data_bytes_[index(node.id)] += node.space.rounded(spec.bytes);
  }
  const DatumId id = data_.add(spec);
  away_.added(data_[id]);
  if (spec.partial_of != no_id<DatumId>) partials_.add(data_[spec.partial_of], data_[id], id);
  return id;
}

bool Memory::try_remove(DatumId id) {
  Datum& datum = data_[id];
  bool in_flight = datum.home.arriving != nullptr;
  ensure(datum.token_holder == nullptr, "no task changes a datum that is removed");
  for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum) {
    ensure((replica->task_pins | replica->app_pins) == 0, "nobody uses a datum that is removed");
    if (replica->in_lane) leave_lane(*replica);
    if (replica->state == ReplicaState::arriving && replica->arriving->state == Copy::State::queued) {
      abandon(*replica->arriving, DropReason::overwritten);
    } else if (replica->source_pins != 0 || replica->state == ReplicaState::arriving) {
      in_flight = true;
    }
  }
  in_flight |= datum.home.source_pins != 0;
  if (in_flight && !mistake_.is(Mistake::removed_in_flight)) return false;
  for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
    if (replica->state != ReplicaState::absent) drop(*replica, DropReason::overwritten);
  away_.removed(datum);
  partials_.remove(datum, id);
  for (const MemoryNode& node : nodes_) {
    if (reaches(node.id, datum.home.node)) continue;
    --data_on_other_homes_[index(node.id)];
    data_bytes_[index(node.id)] -= node.space.rounded(datum.bytes);
  }
  datum.home.version = datum.version;
  datum.removed = true;
  policy_->removed(id);
  if (!in_flight) data_.forget(id);
  return true;
}

void Memory::occupy(Replica& replica, MemoryNode& node, const Range& range) {
  replica.block = range;
  node.peak_bytes = std::max(node.peak_bytes, node.space.used_bytes());
  if (tell_residency_) policy_->reserved(replica.datum, node.id);
}

void Memory::pin(Replica& replica, MemoryNode& node) {
  if (replica.task_pins++ == 0 && nodes_[index(replica.node)].is_cache) {
    node.pinned_bytes += replica.block.bytes;
    if (replica.in_list) node.may_leave.remove(replica);
  }
}

void Memory::unpin(Replica& replica, MemoryNode& node) {
  ensure(replica.task_pins > 0, "what is unpinned was pinned");
  if (--replica.task_pins == 0 && nodes_[index(replica.node)].is_cache) {
    node.pinned_bytes -= replica.block.bytes;
    settle(replica);
  }
}

void Memory::settle(Replica& replica) {
  if (replica.state != ReplicaState::valid || replica.pinned() || replica.in_list) return;
  const Datum& datum = data_[replica.datum];
  if (replica.version != datum.version) {
    drop(replica, replica.version == 0 ? DropReason::failed : DropReason::overwritten);
  } else {
    nodes_[index(replica.node)].may_leave.append(replica);
  }
}

void Memory::drop(Replica& replica, DropReason reason) {
  MemoryNode& node = nodes_[index(replica.node)];
  ensure(replica.state != ReplicaState::absent && !replica.pinned(),
         "only what is present and used by nobody is dropped");
  if (replica.in_list) node.may_leave.remove(replica);
  const bool told = replica.state == ReplicaState::leaving;
  if (told) node.leaving_bytes -= replica.block.bytes;
  if (replica.prefetched) {
    no_longer_unused(replica);
    replica.taken_back += reason != DropReason::overwritten && replica.taken_back < 2;
    const bool moved = replica.state != ReplicaState::arriving && reason != DropReason::failed;
    if (moved) node.unused_prefetch_bytes[static_cast<std::size_t>(reason)] += data_[replica.datum].bytes;
  }
  node.space.release(replica.block);
  note_change();
  replica.block = {};
  replica.state = ReplicaState::absent;
  if (tell_residency_ && !told) policy_->dropped(replica.datum, node.id, reason);
}

/// It was prefetched, and is now used, or leaves.
void Memory::no_longer_unused(Replica& replica) noexcept {
  if (std::exchange(replica.prefetched, false))
    nodes_[index(replica.node)].prefetched_bytes -= replica.block.bytes;
}

/// The policy was told that the replica is gone, but it stays after all.
void Memory::tell_back(const Replica& replica) {
  if (!tell_residency_) return;
  policy_->reserved(replica.datum, replica.node);
  policy_->loaded(replica.datum, replica.node);
}

/// A task has written the datum at this replica: everything else that is held of it is old.
void Memory::written(Datum& datum, Replica& at) {
  at.version = ++datum.version;
  if (&at != &datum.home) away_.note(datum);
  for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum) {
    if (replica == &at) continue;
    switch (replica->state) {
      case ReplicaState::absent:
        break;
      case ReplicaState::arriving: {
        Copy& copy = *replica->arriving;
        if (copy.state == Copy::State::queued && copy.waiters.empty()) {
          abandon(copy, DropReason::overwritten);
        } else {
          copy.overtaken = true;
        }
        break;
      }
      case ReplicaState::leaving:
        // The copy that it waits for carries an old version now; if the world has not heard of it, it need
        // not be made.
        if (mistake_.is(Mistake::leaving_not_invalidated)) {
          replica->version = datum.version;
        } else if (replica->outgoing != nullptr && replica->outgoing->state == Copy::State::queued &&
                   replica->outgoing->next_outgoing == nullptr && !replica->outgoing->counts_for_flush &&
                   replica->outgoing->waiters.empty()) {
          abandon(*replica->outgoing, DropReason::overwritten);
        }
        break;
      case ReplicaState::valid:
        if (!replica->pinned()) drop(*replica, DropReason::overwritten);
        break;
    }
  }
}

void Memory::release(Task& task, Outcome outcome) {
  MemoryNode& node = nodes_[index(task.node)];
  for (Access& access : task.accesses()) {
    const DatumId id = target(access);
    Datum& datum = data_[id];
    Replica& replica = usable(task, access, node);
    if (writes(access.mode)) --datum.writers;
    if (task.role == TaskRole::view_switch) datum.out_of_view = access.mode == AccessMode::read_write;
    if (datum.token_holder == &task) datum.token_holder = nullptr;
    if (outcome != Outcome::succeeded && task.pending_copies != 0) {
      // It ends while copies that it waited for go on.
      if (replica.arriving != nullptr) std::erase(replica.arriving->waiters, &task);
      for (Copy* copy = replica.outgoing; copy != nullptr; copy = copy->next_outgoing)
        std::erase(copy->waiters, &task);
    }
    if (writes(access.mode) && outcome != Outcome::returned) {
      if (replica.state != ReplicaState::arriving) written(datum, replica);
      if (outcome == Outcome::succeeded) {
        if (access.mode == AccessMode::write) datum.poisoned = false;
      } else {
        datum.poisoned = poison_seen_ = true;
        data_[access.datum].poisoned = true;  // what it was to add is missing there
        datum.home.version = datum.version;   // there is nothing worth bringing home
      }
    }
    if (datum.flush_when_written && datum.writers == 0) {
      datum.flush_when_written = false;
      if (datum.home.arriving != nullptr) {
        datum.home.arriving->counts_for_flush = true;
      } else {
        send_home(datum);
      }
    }
    if (mistake_.is(Mistake::pin_forgotten) && index(task.id) % 16 == 7) continue;
    unpin(replica, node);
  }
  if (task.scratch_bytes != 0) give_scratch_back(task, node);
  task.pending_copies = 0;
  note_change();  // also if it had nothing here: who was behind it may be first now
}

void Memory::poison_outputs(const Task& task) {
  if (mistake_.is(Mistake::poison_forgotten)) return;
  poison_seen_ = true;
  note_change();  // who reads that, and waits, is not to be admitted any more
  for (const Access& access : task.accesses())
    if (writes(access.mode)) data_[access.datum].poisoned = true;
}

bool Memory::reads_poisoned(const Task& task) const {
  if (!poison_seen_) return false;
  for (const Access& access : task.accesses())
    if (reads(access.mode) && data_[access.datum].poisoned) return true;
  return false;
}

Bytes Memory::prefetched_and_unused(NodeId node) const noexcept {
  Bytes bytes = 0;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const Replica* replica = data_.find_on(static_cast<DatumId>(i), node);
    if (replica != nullptr && replica->prefetched && replica->state == ReplicaState::valid)
      bytes += data_[replica->datum].bytes;
  }
  return bytes;
}

ReplicaState Memory::residency(DatumId id, NodeId node) const noexcept {
  if (reaches(node, data_[id].home.node)) return ReplicaState::valid;
  const Replica* replica = data_.find_on(id, node);
  return replica == nullptr ? ReplicaState::absent : replica->state;
}

bool Memory::has_newest(DatumId id, NodeId node) const noexcept {
  const Datum& datum = data_[id];
  const bool in_place = reaches(node, datum.home.node);
  const Replica* replica = in_place ? &datum.home : data_.find_on(id, node);
  if (replica == nullptr) return false;
  if (replica->arriving != nullptr) return replica->arriving->version == datum.version;
  return (in_place || replica->state == ReplicaState::valid) && replica->version == datum.version;
}

Duration Memory::transfer_time(DatumId id, NodeId node) const noexcept {
  const Datum& datum = data_[id];
  if (reaches(node, datum.home.node) ? has_newest(id, node) : residency(id, node) != ReplicaState::absent)
    return Duration{};
  const Replica* source = source_of(datum, node);
  if (source == nullptr) source = &datum.home;
  return route_from(datum, *source, node).time(datum.bytes);
}

void Memory::check(bool idle) const {
  const auto fail = [](const std::string& what) { throw Error("internal: memory: " + what); };
  std::vector<Bytes> used(nodes_.size()), pinned(nodes_.size()), held(nodes_.size()), leaving(nodes_.size()),
      prefetching(nodes_.size()), prefetched(nodes_.size()), in_lane(nodes_.size()), revoked(nodes_.size());
  copies_.for_each([&](const Copy& copy) {
    if (copy.revoked) revoked[index(copy.to->node)] += copy.to->block.bytes;
    if (copy.via_revoked) revoked[index(copy.via->node)] += copy.via->block.bytes;
  });
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const Datum& datum = data_[static_cast<DatumId>(i)];
    const std::string name = "datum " + std::to_string(i);
    if (idle && datum.token_holder != nullptr) fail(name + " is still held for one commutative task");
    if (idle && datum.writers != 0) fail(name + " is still being written");
    if (idle && datum.home.pinned()) fail(name + " is still pinned at home");
    bool newest = datum.home.version == datum.version || datum.removed;
    for (const Replica* r = datum.cached; r != nullptr; r = r->next_of_datum) {
      if (r->state == ReplicaState::absent) continue;
      used[index(r->node)] += r->block.bytes;
      if (r->task_pins != 0) pinned[index(r->node)] += r->block.bytes;
      if (r->prefetched) prefetched[index(r->node)] += r->block.bytes;
      if (r->app_pins != 0) held[index(r->node)] += r->block.bytes;
      if (r->state == ReplicaState::leaving) leaving[index(r->node)] += r->block.bytes;
      if (r->state == ReplicaState::arriving && r->arriving->cause == Cause::prefetch && r->arriving->to == r)
        prefetching[index(r->node)] += r->block.bytes;
      if (r->state != ReplicaState::arriving && r->version == datum.version) newest = true;
      if (r->in_lane) in_lane[index(r->node)] += r->block.bytes;
      if (idle && (r->task_pins | r->source_pins | r->app_pins) != 0)
        fail(name + " is still pinned on " + topology_.nodes[index(r->node)].name);
      if (idle && r->state == ReplicaState::leaving) fail(name + " is still leaving");
      if (r->in_list && (r->pinned() || r->state != ReplicaState::valid))
        fail(name + " may leave but must not");
      if (!r->in_list && !r->pinned() && r->state == ReplicaState::valid)
        fail(name + " could leave but may not");
    }
    if (!newest) fail("the newest version of " + name + " is nowhere");
  }
  for (const MemoryNode& node : nodes_) {
    if (!node.is_cache) continue;
    used[index(node.id)] += node.scratch_bytes;
    pinned[index(node.id)] += node.scratch_bytes;
    if (idle && node.scratch_bytes != 0) fail("scratch of a task that is over is still reserved");
    if (used[index(node.id)] != node.space.used_bytes()) fail("used bytes do not add up");
    if (used[index(node.id)] > node.space.capacity()) fail("capacity exceeded");
    if (pinned[index(node.id)] != node.pinned_bytes) fail("pinned bytes do not add up");
    if (held[index(node.id)] != node.held_bytes) fail("held bytes do not add up");
    if (in_lane[index(node.id)] != node.lane_bytes) fail("the bytes of the direct lane do not add up");
    if (leaving[index(node.id)] != node.leaving_bytes) fail("leaving bytes do not add up");
    if (revoked[index(node.id)] != node.revoked_bytes) fail("revoked bytes do not add up");
    if (prefetching[index(node.id)] != node.prefetching_bytes) fail("prefetched bytes do not add up");
    if (prefetched[index(node.id)] != node.prefetched_bytes) fail("unused prefetched bytes do not add up");
    if (idle && node.claimant != nullptr)
      fail("a task that is over still claims " + topology_.nodes[index(node.id)].name);
  }
}

}  // namespace fairlead::memory
