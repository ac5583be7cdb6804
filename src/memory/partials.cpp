// Partial results of reductions: where a task that reduces adds, and when a partial result is empty (rule 8).
#include <algorithm>

#include "base/check.hpp"
#include "memory/memory.hpp"

namespace fairlead::memory {

/// What costs least later: what is here already, then the datum itself, then a partial result that is still
/// empty, which costs no copy now but one to fold it, then one that has to be fetched.
bool Memory::choose_target(Access& access, const MemoryNode& node) {
  const Datum& datum = data_[access.datum];
  access.partial = 0;
  access.fresh = false;
  if (mistake_.is(Mistake::token_ignored)) return true;
  const bool own_free = datum.token_holder == nullptr;
  if (access.partials == 0) return own_free;
  const auto is_here = [&](DatumId id) {
    if (((node.reaches >> index(data_[id].home.node)) & 1) != 0) return !data_[id].dirty();
    const Replica* replica = data_.find_on(id, node.id);
    return replica != nullptr && replica->state != ReplicaState::absent &&
           (replica->state == ReplicaState::arriving || replica->version == data_[id].version);
  };
  if (own_free && is_here(access.datum)) return true;
  const auto partials = partials_.of(datum).first(access.partials);
  std::size_t empty = partials.size(), used = partials.size();
  for (std::size_t k = 0; k < partials.size(); ++k) {
    if (data_[partials[k].id].token_holder != nullptr) continue;
    if (!partials[k].used) {
      empty = std::min(empty, k);
    } else if (is_here(partials[k].id)) {
      access.partial = static_cast<std::uint8_t>(k + 1);
      return true;
    } else {
      used = std::min(used, k);
    }
  }
  // On its home only: whoever folds needs it in a cache anyway.
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

bool Memory::waits_for_token(const Task& task) const {
  return std::ranges::any_of(task.accesses(), [&](const Access& access) {
    if (access.mode == AccessMode::read) return false;
    const Datum& datum = data_[access.datum];
    if (datum.token_holder == nullptr) return false;
    return access.mode != AccessMode::reduction || access.partials == 0 ||
           std::ranges::all_of(partials_.of(datum).first(access.partials), [&](const PartialResult& partial) {
             return data_[partial.id].token_holder != nullptr;
           });
  });
}

bool Memory::anything_to_fold(const Task& fold) {
  const DatumId id = fold.accesses()[1].datum;
  return !mistake_.is(Mistake::partial_not_folded) && partials_.entry(data_[id], id).used;
}

void Memory::fold_over(const Task& fold) {
  const DatumId id = fold.accesses()[1].datum;
  PartialResult& partial = partials_.entry(data_[id], id);
  if (!partial.used || mistake_.is(Mistake::partial_kept)) return;
  partial.used = false;
  Datum& datum = data_[id];
  datum.poisoned = false;
  written(datum, datum.home);  // no copy of it is worth keeping, and none has to go home
}

}  // namespace fairlead::memory
