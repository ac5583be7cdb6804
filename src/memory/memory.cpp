// See memory.hpp.
#include "memory/memory.hpp"

#include "base/check.hpp"

namespace fairlead::memory {

void Memory::place(DatumId id, NodeId node, bool changed) {
  Replica& replica = state_.data.cached_on(id, node);
  Datum& datum = state_.data[id];
  if (replica.state != ReplicaState::absent) return;
  if (!coherence_.reserve(replica, state_.node(node), ReplicaState::valid)) return;
  if (changed && !datum.dirty())
    coherence_.wrote(datum, replica);
  else
    coherence_.landed(replica, datum.version);
  coherence_.notify_loaded(replica);
  coherence_.settle(replica);
}

bool Memory::try_remove(DatumId id) {
  Datum& datum = state_.data[id];
  bool in_flight = datum.home.arriving != nullptr;
  ensure(!datum.removed, "a datum is removed once");  // otherwise its id would be reused twice
  ensure(datum.token_holder == nullptr, "no task changes a removed datum");
  for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum) {
    ensure((replica->task_pins | replica->app_pins) == 0, "no task or hold uses a removed datum");
    if (replica->on_fast_path) fast_path_.release(*replica);
    if (replica->state == ReplicaState::in_flight && transfers_.may_abandon(*replica->arriving)) {
      transfers_.abandon(*replica->arriving, DropReason::overwritten);
    } else if (replica->source_pins != 0 || replica->state == ReplicaState::in_flight) {
      in_flight = true;
    }
  }
  in_flight |= datum.home.source_pins != 0;
  if (in_flight && !state_.mistake.is(Mistake::removed_in_flight)) return false;
  for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
    if (replica->state != ReplicaState::absent) coherence_.drop(*replica, DropReason::overwritten);
  coherence_.home_has(datum, datum.version);
  poison_.forget(id);
  state_.remove(id, !in_flight);
  return true;
}

}  // namespace fairlead::memory
