// See state.hpp.
#include "memory/state.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace fairlead::memory {

State::State(const Topology& machine, Policy& first_policy)
    : topology(machine), routes(topology), away(topology) {
  use(first_policy);
  nodes.reserve(topology.nodes.size());
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const NodeSpec& spec = topology.nodes[i];
    const bool is_cache = spec.role == NodeRole::cache;
    std::uint64_t reaches = 0;
    for (const NodeId home : spec.directly_accessible_homes) reaches |= std::uint64_t{1} << index(home);
    nodes.push_back(MemoryNode{.id = static_cast<NodeId>(i),
                               .is_cache = is_cache,
                               .reaches = reaches,
                               .space = RangeAllocator(is_cache ? spec.capacity : 0)});
  }
}

DatumId State::add(const DatumSpec& spec) {
  ensure(spec.generator == nullptr ||
             std::ranges::any_of(
                 topology.links,
                 [&](const LinkSpec& link) { return link.is_generator && link.first == spec.home; }),
         "a datum is generated only on a node with a generator link");
  for (MemoryNode& node : nodes) {
    if (reaches(node.id, spec.home)) continue;
    ++node.data;
    node.data_bytes += node.space->rounded(spec.bytes);
  }
  const DatumId id = data.add(spec);
  away.added(data[id]);
  if (spec.partial_of != no_id<DatumId>) partials.add(data[spec.partial_of], data[id], id);
  return id;
}

void State::remove(DatumId id, bool forget) {
  Datum& datum = data[id];
  away.removed(datum);
  partials.remove(datum, id);
  for (MemoryNode& node : nodes) {
    if (reaches(node.id, datum.home.node)) continue;
    --node.data;
    node.data_bytes -= node.space->rounded(datum.bytes);
  }
  data.remove(id);
  policy->removed(id);
  if (forget) data.forget(id);
}

ReplicaState State::residency(DatumId id, NodeId on) const noexcept {
  if (reaches(on, data[id].home.node)) return ReplicaState::valid;
  const Replica* replica = data.find_on(id, on);
  return replica == nullptr ? ReplicaState::absent : replica->state.get();
}

bool State::has_newest(DatumId id, NodeId on) const noexcept {
  const Datum& datum = data[id];
  const bool in_place = reaches(on, datum.home.node);
  const Replica* replica = in_place ? &datum.home : data.find_on(id, on);
  if (replica == nullptr) return false;
  if (replica->arriving != nullptr) return replica->arriving->version == datum.version;
  return (in_place || replica->state == ReplicaState::valid) && replica->version == datum.version;
}

bool State::another_holds(const Datum& datum, const Replica& replica) const noexcept {
  if (replica.version != datum.version || datum.home.version == datum.version) return true;
  for (const Replica* other = datum.cached; other != nullptr; other = other->next_of_datum)
    if (other != &replica && other->state == ReplicaState::valid && other->version == datum.version &&
        !is_lost(other->node))
      return true;
  return false;
}

bool State::may_leave(const Datum& datum, const Replica& replica) const noexcept {
  return another_holds(datum, replica) ||
         (datum.home.arriving == nullptr && (datum.home.task_pins | datum.home.app_pins) == 0);
}

const Replica* State::source_of(const Datum& datum, NodeId to) const noexcept {
  const Replica* best = nullptr;
  Duration least{};
  const auto consider = [&](const Replica& holder) {
    const Route& route = route_from(datum, holder, to);
    if (holder.node == to || holder.version != datum.version || !route.exists()) return;
    if (is_lost(holder.node)) return;
    const Duration time = route.time(datum.bytes);
    if (best != nullptr && time >= least) return;
    best = &holder;
    least = time;
  };
  consider(datum.home);
  for (const Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
    if (replica->state == ReplicaState::valid || replica->state == ReplicaState::evicting) consider(*replica);
  return best;
}

Duration State::transfer_time(DatumId id, NodeId to) const noexcept {
  const Datum& datum = data[id];
  if (reaches(to, datum.home.node) ? has_newest(id, to) : residency(id, to) != ReplicaState::absent)
    return Duration{};
  const Replica* source = source_of(datum, to);
  if (source == nullptr) source = &datum.home;
  return route_from(datum, *source, to).time(datum.bytes);
}

}  // namespace fairlead::memory
