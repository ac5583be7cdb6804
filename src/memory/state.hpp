// What the parts of memory share: the machine, the nodes, the data, and whom to tell. Whoever has it may read
// all of it; each field below it has one class that writes it (written_by.hpp).
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/deliberate_mistake.hpp"
#include "data/task.hpp"
#include "machine/topology.hpp"
#include "memory/away_list.hpp"
#include "memory/datum_table.hpp"
#include "memory/memory_node.hpp"
#include "memory/partial_results.hpp"
#include "memory/routes.hpp"
#include "policy/policy.hpp"

namespace fairlead::memory {

struct State {
  State(const Topology& machine, Policy& first_policy);

  void use(Policy& another) noexcept {
    policy = &another;
    tell_residency = includes(another.interests(), Interest::residency);
  }
  DatumId add(const DatumSpec& spec);
  /// All its replicas are absent. With `forget`, another may get its id.
  void remove(DatumId id, bool forget);

  /// How the datum is called in errors.
  std::string name_of(DatumId id) const { return name ? name(id) : "datum " + std::to_string(index(id)); }
  /// Its memory is gone: nothing there may be read any more.
  bool is_lost(NodeId on) const noexcept { return node(on).lost; }

  /// Something of which Memory::admit() makes its answer has changed: see there.
  void note_change() noexcept { changed = true; }

  // ---- what is where

  MemoryNode& node(NodeId id) noexcept { return nodes[index(id)]; }
  const MemoryNode& node(NodeId id) const noexcept { return nodes[index(id)]; }
  bool in_cache(const Replica& replica) const noexcept { return node(replica.node).is_cache; }
  bool reaches(NodeId from, NodeId home) const noexcept {
    return ((node(from).reaches >> index(home)) & 1) != 0;
  }
  /// The datum whose replica an admitted access is given: its own, or that of a partial result.
  DatumId target(const Access& access) const noexcept {
    return access.partial == 0 ? access.datum : partials.of(data[access.datum])[access.partial - 1u].id;
  }
  /// The replica that a task on this node uses: the home where it is reached in place, else the node's own.
  Replica& usable(DatumId id, const MemoryNode& on) {
    Datum& datum = data[id];
    if (((on.reaches >> index(datum.home.node)) & 1) != 0) return datum.home;
    return data.cached_on(id, on.id);
  }
  Replica& usable(const Task& task, const Access& access, const MemoryNode& on) {
    if (task.at_home()) [[unlikely]]
      return data[access.datum].home;
    return usable(target(access), on);
  }
  ReplicaState residency(DatumId id, NodeId on) const noexcept;
  /// Whether the node, or the home that its workers use in place, has the newest version, or it is on its
  /// way.
  bool has_newest(DatumId id, NodeId on) const noexcept;
  /// Dropping the replica loses nothing: it is old, or its home or a settled replica has the same version.
  bool another_holds(const Datum& datum, const Replica& replica) const noexcept;
  /// The replica can give up its space: by being dropped, or by way of a home to which nothing is under way
  /// and in which no task works in place.
  bool may_leave(const Datum& datum, const Replica& replica) const noexcept;
  /// Where the newest version is read from: of the home, if it has it, and the settled replicas, the one from
  /// which an idle link brings it soonest; null if nobody else has it.
  Replica* source_of(Datum& datum, NodeId to) noexcept {
    return const_cast<Replica*>(std::as_const(*this).source_of(datum, to));
  }
  const Replica* source_of(const Datum& datum, NodeId to) const noexcept;
  /// A copy from there is not read but made: nothing has ever been written to the home.
  bool made_from(const Datum& datum, const Replica& holder) const noexcept {
    return datum.generator != nullptr && &holder == &datum.home &&
           (holder.version == 1 || mistake.is(Mistake::written_made_anew));
  }
  /// How long bringing the datum there would take from its cheapest source, on idle links; 0 if it is there.
  Duration transfer_time(DatumId id, NodeId to) const noexcept;

  const Topology topology;
  const Routes routes;
  Policy* policy = nullptr;
  bool tell_residency = false;
  DeliberateMistake mistake;
  std::function<std::string(DatumId)> name;
  std::vector<MemoryNode> nodes;  // by NodeId; homes have no space to manage
  DatumTable data;
  PartialResults partials;
  AwayList away;
  bool changed = false;

 private:
  const Route& route_from(const Datum& datum, const Replica& holder, NodeId to) const noexcept {
    return made_from(datum, holder) ? routes.computing(holder.node, to) : routes.between(holder.node, to);
  }
};

}  // namespace fairlead::memory
