// See losses.hpp.
#include "memory/losses.hpp"

#include <fairlead/error.hpp>

#include <vector>

#include "base/check.hpp"

namespace fairlead::memory {

void Losses::lose(NodeId id, Effects& effects) {
  MemoryNode& node = state_.node(id);
  ensure(node.is_cache && !node.lost, "a device is lost once");
  node.lost = true;
  state_.note_change();
  // First what has no value any more, so that nobody is given it in place of what he waits for.
  for (std::size_t i = 0; i < state_.data.size(); ++i) {
    Datum& datum = state_.data[static_cast<DatumId>(i)];
    for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum)
      if (replica->node == id && is_only_there(datum, *replica) &&
          !state_.mistake.is(Mistake::loss_forgotten))
        lose(datum, id, effects);
  }
  while (Copy* const copy = unstarted_copy_at(id)) landing_.comes_to_nothing(*copy, effects);
  for (std::size_t i = 0; i < state_.data.size(); ++i)
    for (Replica* replica = state_.data[static_cast<DatumId>(i)].cached; replica != nullptr;
         replica = replica->next_of_datum)
      if (replica->node == id && !replica->pinned() &&
          (replica->state == ReplicaState::valid || replica->state == ReplicaState::leaving))
        coherence_.drop(*replica, DropReason::failed);
}

/// A partial result to which nothing was added is worth nothing.
bool Losses::is_only_there(const Datum& datum, const Replica& replica) const noexcept {
  if (replica.state != ReplicaState::valid && replica.state != ReplicaState::leaving) return false;
  if (datum.removed || replica.version != datum.version || !datum.dirty()) return false;
  if (datum.is_partial && !state_.partials.used(datum, datum.home.datum)) return false;
  for (const Replica* other = datum.cached; other != nullptr; other = other->next_of_datum)
    if (other->version == datum.version && !state_.is_lost(other->node) &&
        (other->state == ReplicaState::valid || other->state == ReplicaState::leaving))
      return false;
  return true;
}

void Losses::lose(Datum& datum, NodeId with, Effects& effects) {
  const DatumId id = datum.home.datum;
  std::vector<Copy*> copies;
  transfers_.for_each([&](Copy& copy) {
    if (copy.datum == id) copies.push_back(&copy);
  });
  for (Copy* const copy : copies) landing_.fail_readers(*copy, failure(id, with), effects);
  poison_.lose(id, with);
  transfers_.written(datum, datum.home);  // what is still under way is old
}

/// The world has not heard of it, or only of what it waits for.
Copy* Losses::unstarted_copy_at(NodeId node) {
  Copy* found = nullptr;
  transfers_.for_each([&](Copy& copy) {
    if (copy.state != Copy::State::in_flight && (copy.from->node == node || copy.to->node == node))
      found = found == nullptr ? &copy : found;
  });
  return found;
}

std::exception_ptr Losses::failure(DatumId id, NodeId with) const {
  return std::make_exception_ptr(DeviceLostError(
      "the newest value of " + state_.name_of(id) + " was in the memory of \"" +
      state_.topology.nodes[index(with)].name + "\" only, which is lost: " + words_.at(with)));
}

std::exception_ptr Losses::nobody_left() const {
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
    const bool own = state_.topology.is(datum.home.node, MemoryKind::user) && !datum.refresh_put_off;
    if (!datum.removed && !datum.is_partial && (own || where == Where::anywhere)) return failure(id, with);
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
