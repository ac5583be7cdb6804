// See losses.hpp.
#include "memory/losses.hpp"

#include <fairlead/error.hpp>

#include "base/check.hpp"

namespace fairlead::memory {

void Losses::lose(NodeId id, Effects& effects) {
  MemoryNode& node = state_.node(id);
  ensure(node.is_cache && !node.lost, "a device is lost once");
  node.lost = true;
  state_.note_change();
  // First mark the data without a value, so that no old version serves their readers.
  for (std::size_t i = 0; i < state_.data.size(); ++i) {
    Datum& datum = state_.data[static_cast<DatumId>(i)];
    for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
      if (replica->node == id && is_only_there(datum, *replica) &&
          !state_.mistake.is(Mistake::loss_forgotten))
        lose(datum, id, effects);
  }
  for (std::size_t i = 0; i < state_.data.size(); ++i)
    for (Replica* replica = state_.data[static_cast<DatumId>(i)].cached; replica != nullptr;
         replica = replica->next_of_datum) {
      if (replica->node != id) continue;
      while (Copy* const copy = unstarted_copy_of(*replica)) completion_.cancel(*copy, effects);
      if (!replica->pinned() &&
          (replica->state == ReplicaState::valid || replica->state == ReplicaState::evicting))
        coherence_.drop(*replica, DropReason::failed);
    }
}

/// An empty partial result has no value to lose.
bool Losses::is_only_there(const Datum& datum, const Replica& replica) const noexcept {
  if (replica.state != ReplicaState::valid && replica.state != ReplicaState::evicting) return false;
  if (datum.removed || replica.version != datum.version || !datum.dirty()) return false;
  if (datum.is_partial && !state_.partials.used(datum, datum.home.datum)) return false;
  for (const Replica* other = datum.cached; other != nullptr; other = other->next_of_datum)
    if (other->version == datum.version && !state_.is_lost(other->node) &&
        (other->state == ReplicaState::valid || other->state == ReplicaState::evicting))
      return false;
  return true;
}

void Losses::lose(Datum& datum, NodeId with, Effects& effects) {
  const DatumId id = datum.home.datum;
  const std::exception_ptr why = failure(id, with);
  const auto fail_readers = [&](const Replica& replica) {
    if (replica.arriving != nullptr) completion_.fail_readers(*replica.arriving, why, effects);
  };
  fail_readers(datum.home);
  for (const Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
    fail_readers(*replica);
  poison_.lose(id, with);
  transfers_.written(datum, datum.home);  // marks copies in flight as out of date
}

/// A copy that writes or reads the replica and has not started. Null: there is none.
Copy* Losses::unstarted_copy_of(const Replica& replica) noexcept {
  Copy* copy = replica.arriving;
  if (copy != nullptr && copy->state != Copy::State::in_flight) return copy;
  copy = replica.outgoing;
  while (copy != nullptr && copy->state == Copy::State::in_flight) copy = copy->next_outgoing;
  return copy;
}

std::exception_ptr Losses::failure(DatumId id, NodeId with) const {
  return std::make_exception_ptr(DeviceLostError(
      "the newest value of " + state_.name_of(id) + " was in the memory of \"" +
      state_.topology.nodes[index(with)].name + "\" only, which is lost: " + words_.at(with)));
}

std::exception_ptr Losses::no_worker_error() const {
  std::string text = "no worker that could run it is left";
  for (const auto& [node, words] : words_)
    text += "; the device \"" + state_.topology.nodes[index(node)].name + "\" is lost: " + words;
  return std::make_exception_ptr(DeviceLostError(text));
}

std::exception_ptr Losses::read_by(const Task& task) const {
  const auto lost = poison_.lost_input(task);
  return lost ? failure(*lost, *poison_.lost_with(*lost)) : nullptr;
}

std::exception_ptr Losses::missing(Where where) const {
  for (const auto& [id, with] : poison_.lost()) {
    const Datum& datum = state_.data[id];
    const bool own = state_.topology.has_kind(datum.home.node, MemoryKind::user) && !datum.refresh_put_off;
    // The visible view has the loss from pass_on().
    if (!datum.removed && !datum.is_partial && !datum.out_of_view && (own || where == Where::anywhere))
      return failure(id, with);
  }
  return nullptr;
}

std::exception_ptr Losses::missing(std::span<const DatumId> data) const {
  for (const DatumId id : data)
    if (const auto with = poison_.lost_with(id)) return failure(id, *with);
  return nullptr;
}

void Losses::pass_on(const Task& view_switch) {
  const auto lost = poison_.lost_input(view_switch);
  if (!lost) return;
  const NodeId with = *poison_.lost_with(*lost);
  for (const Access& access : view_switch.accesses())
    if (writes(access.mode)) poison_.lose(access.datum, with);
}

}  // namespace fairlead::memory
