// See memory.hpp.
#include "memory/memory.hpp"

#include "base/check.hpp"

namespace fairlead::memory {

bool Memory::try_remove(DatumId id) {
  Datum& datum = state_.data[id];
  bool in_flight = datum.home.arriving != nullptr;
  ensure(datum.token_holder == nullptr, "no task changes a datum that is removed");
  for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum) {
    ensure((replica->task_pins | replica->app_pins) == 0, "nobody uses a datum that is removed");
    if (replica->in_lane) lane_.let_go(*replica);
    if (replica->state == ReplicaState::arriving && replica->arriving->state == Copy::State::queued) {
      transfers_.abandon(*replica->arriving, DropReason::overwritten);
    } else if (replica->source_pins != 0 || replica->state == ReplicaState::arriving) {
      in_flight = true;
    }
  }
  in_flight |= datum.home.source_pins != 0;
  if (in_flight && !state_.mistake.is(Mistake::removed_in_flight)) return false;
  for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
    if (replica->state != ReplicaState::absent) coherence_.drop(*replica, DropReason::overwritten);
  coherence_.home_has(datum, datum.version);
  state_.remove(id, !in_flight);
  return true;
}

}  // namespace fairlead::memory
