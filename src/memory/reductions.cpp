// See reductions.hpp.
#include "memory/reductions.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace fairlead::memory {

/// Chooses by later cost: a value on this node; then the datum itself; then an empty partial result, which costs no
/// copy now but one combination; then a partial result that must be fetched.
bool Reductions::choose_target(Access& access, const MemoryNode& node) {
  const Datum& datum = state_.data[access.datum];
  access.partial = 0;
  access.fresh = false;
  if (state_.mistake.is(Mistake::token_ignored)) return true;
  const bool own_free = datum.token_holder == nullptr;
  if (access.partials == 0) return own_free;
  const auto is_here = [&](DatumId id) {
    if (state_.reaches(node.id, state_.data[id].home.node)) return !state_.data[id].dirty();
    const Replica* replica = state_.data.find_on(id, node.id);
    return replica != nullptr && replica->state != ReplicaState::absent &&
           (replica->state == ReplicaState::in_flight || replica->version == state_.data[id].version);
  };
  if (own_free && is_here(access.datum)) return true;
  const auto partials = state_.partials.of(datum).first(access.partials);
  std::size_t empty = partials.size(), used = partials.size();
  for (std::size_t k = 0; k < partials.size(); ++k) {
    if (state_.data[partials[k].id].token_holder != nullptr) continue;
    if (!partials[k].used) {
      empty = std::min(empty, k);
    } else if (is_here(partials[k].id)) {
      access.partial = static_cast<std::uint8_t>(k + 1);
      return true;
    } else {
      used = std::min(used, k);
    }
  }
  // `elsewhere` is false if the datum is only in its home: the combining task must load it into a cache anyway.
  bool elsewhere = false;
  for (const Replica* r = datum.cached; r != nullptr; r = r->next_of_datum)
    elsewhere |= r->node != node.id && r->state == ReplicaState::valid;
  if (own_free && (!elsewhere || empty == partials.size())) return true;
  if (empty != partials.size()) {
    access.partial = static_cast<std::uint8_t>(empty + 1);
    access.fresh = true;
    return true;
  }
  if (used == partials.size()) return false;
  access.partial = static_cast<std::uint8_t>(used + 1);
  return true;
}

bool Reductions::all_taken(const Access& access) const noexcept {
  const auto partials = state_.partials.of(state_.data[access.datum]).first(access.partials);
  return std::ranges::all_of(partials, [&](const PartialResult& partial) {
    return state_.data[partial.id].token_holder != nullptr;
  });
}

bool Reductions::anything_to_fold(const Task& fold) const {
  const DatumId id = fold.accesses()[1].datum;
  return !state_.mistake.is(Mistake::partial_not_folded) && state_.partials.used(state_.data[id], id);
}

void Reductions::fold_over(const Task& fold) {
  const DatumId id = fold.accesses()[1].datum;
  Datum& datum = state_.data[id];
  if (!state_.partials.used(datum, id) || state_.mistake.is(Mistake::partial_kept)) return;
  empty(datum);
}

void Reductions::replaced(const Datum& datum) {
  if (datum.partials == 0 || datum.is_partial || state_.mistake.is(Mistake::stale_partial_kept)) return;
  for (const PartialResult& partial : state_.partials.of(datum)) {
    if (!partial.used) continue;
    Datum& it = state_.data[partial.id];
    ensure(it.token_holder == nullptr, "no task adds to a value while it is being replaced");
    empty(it);
  }
}

void Reductions::empty(Datum& partial) {
  state_.partials.note_empty(partial, partial.home.datum);
  poison_.clear(partial);
  transfers_.written(partial, partial.home);  // copies of it are out of date, and none has to go home
}

}  // namespace fairlead::memory
