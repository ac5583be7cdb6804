// The state that the parts of memory share: the machine, nodes, data and the policy. All parts may read it; each
// field of nodes, data and replicas has one class that writes it (written_by.hpp).
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/deliberate_mistake.hpp"
#include "data/task.hpp"
#include "machine/topology.hpp"
#include "memory/datum_table.hpp"
#include "memory/memory_node.hpp"
#include "memory/partial_results.hpp"
#include "memory/routes.hpp"
#include "memory/stale_homes.hpp"
#include "policy/policy.hpp"

namespace fairlead::memory {

struct State {
  State(const Topology& machine, Policy& first_policy);

  void use(Policy& another) noexcept {
    policy = &another;
    notifies_residency = includes(another.interests(), Notifications::residency);
  }
  DatumId add(const DatumSpec& spec);
  /// All replicas must be absent. With `forget`, the id may be reused.
  void remove(DatumId id, bool forget);

  /// The datum's name in errors.
  std::string name_of(DatumId id) const { return name ? name(id) : "datum " + std::to_string(index(id)); }
  /// True if the node's memory is gone: nothing there may be read.
  bool is_lost(NodeId on) const noexcept { return node(on).lost; }

  /// Notes that a condition of Memory::admit() has changed; see Memory::changed().
  void note_change() noexcept { changed = true; }

  // ---- what is where

  MemoryNode& node(NodeId id) noexcept { return nodes[index(id)]; }
  const MemoryNode& node(NodeId id) const noexcept { return nodes[index(id)]; }
  bool in_cache(const Replica& replica) const noexcept { return node(replica.node).is_cache; }
  bool reaches(NodeId from, NodeId home) const noexcept {
    return ((node(from).reaches >> index(home)) & 1) != 0;
  }
  /// The datum that an admitted access uses: its own, or that of a partial result.
  DatumId target(const Access& access) const noexcept {
    return access.partial == 0 ? access.datum : partials.of(data[access.datum])[access.partial - 1u].id;
  }
  /// The replica that a task on this node uses: the home if it is reachable in place, otherwise the node's own.
  Replica& usable(DatumId id, const MemoryNode& on) {
    Datum& datum = data[id];
    if (((on.reaches >> index(datum.home.node)) & 1) != 0) return datum.home;
    return data.cached_on(id, on.id);
  }
  Replica& usable(const Task& task, const Access& access, const MemoryNode& on) {
    if (task.uses_home()) [[unlikely]]
      return data[access.datum].home;
    return usable(target(access), on);
  }
  ReplicaState residency(DatumId id, NodeId on) const noexcept;
  /// True if the node, or the home that its workers use in place, has the newest version, or a copy of it is queued
  /// or in flight.
  bool has_newest(DatumId id, NodeId on) const noexcept;
  /// True if dropping the replica loses nothing: it is old, or its home or another valid replica has the same
  /// version.
  bool another_holds(const Datum& datum, const Replica& replica) const noexcept;
  /// True if the replica can be evicted: by a drop, or by a write-back to a home to which no copy is queued or in
  /// flight and which no task or hold uses in place.
  bool may_leave(const Datum& datum, const Replica& replica) const noexcept;
  /// The replica from which a copy of the newest version takes the shortest time on idle links, among the home and
  /// the valid and leaving replicas. Null if no other node has it.
  Replica* source_of(Datum& datum, NodeId to) noexcept {
    return const_cast<Replica*>(std::as_const(*this).source_of(datum, to));
  }
  const Replica* source_of(const Datum& datum, NodeId to) const noexcept;
  /// True if a copy from there is computed, not read: the home has never been written.
  bool made_from(const Datum& datum, const Replica& holder) const noexcept {
    return datum.generator != nullptr && &holder == &datum.home &&
           (holder.version == 1 || mistake.is(Mistake::written_regenerated));
  }
  /// The duration of a copy from the cheapest source on idle links; 0 if the datum is present.
  Duration transfer_time(DatumId id, NodeId to) const noexcept;

  const Topology topology;
  const Routes routes;
  Policy* policy = nullptr;
  bool notifies_residency = false;
  DeliberateMistake mistake;
  std::function<std::string(DatumId)> name;
  std::vector<MemoryNode> nodes;  // by NodeId; homes have no space to manage
  DatumTable data;
  PartialResults partials;
  StaleHomes away;
  bool changed = false;

 private:
  const Route& route_from(const Datum& datum, const Replica& holder, NodeId to) const noexcept {
    return made_from(datum, holder) ? routes.computing(holder.node, to) : routes.between(holder.node, to);
  }
};

}  // namespace fairlead::memory
