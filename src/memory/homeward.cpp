// See homeward.hpp.
#include "memory/homeward.hpp"

namespace fairlead::memory {

Homeward::Homeward(State& state, Transfers& transfers)
    : state_(state),
      transfers_(transfers),
      waiting_(state.topology.nodes.size()),
      evictions_before_(waiting_.size()) {
  for (const WorkerSpec& worker : state.topology.workers)
    for (std::size_t home = 0; home < waiting_.size(); ++home)
      possible_ |= !state.node(static_cast<NodeId>(home)).is_cache &&
                   leads_home(worker.node, static_cast<NodeId>(home));
}

/// By wires that carry both ways at once, so that nothing that is on its way there is held up.
bool Homeward::leads_home(NodeId from, NodeId home) const noexcept {
  const Route& route = state_.routes.between(from, home);
  return route.exists() && transfers_.is_duplex(route);
}

void Homeward::expect(const Task& task) {
  if (!possible_) return;
  more_follow_ = true;
  for (const Access& access : task.accesses()) {
    if (!writes(access.mode)) continue;
    const std::size_t datum = index(access.datum);
    if (datum >= changes_ahead_.size()) changes_ahead_.resize(2 * datum + 1);
    ++changes_ahead_[datum];
    ++changes_left_;
  }
}

/// True if that was the last change that is known. False of a datum of which none was.
bool Homeward::one_less(DatumId datum) noexcept {
  if (index(datum) >= changes_ahead_.size() || changes_ahead_[index(datum)] == 0) return false;
  --changes_left_;
  return --changes_ahead_[index(datum)] == 0;
}

void Homeward::forget(const Task& task) noexcept {
  if (!possible_) return;
  for (const Access& access : task.accesses())
    if (writes(access.mode)) one_less(access.datum);
}

/// Since the first of these changes: what is at home may have to come once more.
bool Homeward::has_made_room(NodeId node) const noexcept {
  return state_.node(node).evictions != evictions_before_[index(node)];
}

void Homeward::changed(const Task& task, Effects& effects) {
  if (!possible_) return;
  if (changes_over_ == 0)
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      evictions_before_[i] = state_.node(static_cast<NodeId>(i)).evictions;
  for (const Access& access : task.accesses()) {
    if (!writes(access.mode)) continue;
    ++changes_over_;
    if (!one_less(access.datum)) continue;
    if (!leads_home(task.node, state_.data[access.datum].home.node)) continue;
    waiting_[index(task.node)].push_back(access.datum);
    ++all_waiting_;
  }
  go(effects);
  if (changes_left_ == 0) changes_over_ = 0;  // what comes then has halves of its own
}

void Homeward::go(Effects& effects) {
  if (all_waiting_ == 0 || more_follow_) return;
  const bool first_half = changes_left_ > changes_over_;
  for (std::size_t node = 0; node < waiting_.size(); ++node) {
    if (first_half && has_made_room(static_cast<NodeId>(node))) continue;
    for (std::deque<DatumId>& waiting = waiting_[node]; !waiting.empty();) {
      Datum& datum = state_.data[waiting.front()];
      const auto from = static_cast<NodeId>(node);
      const bool goes = leads_home(from, datum.home.node);
      if (goes && !transfers_.is_idle(state_.routes.between(from, datum.home.node))) break;
      waiting.pop_front();
      --all_waiting_;
      if (goes) send(datum, from, effects);
    }
  }
}

void Homeward::send(Datum& datum, NodeId from, Effects& effects) {
  // The number may be another's by now; or it is at home, or is changed again.
  // The program does without what is put off.
  if (datum.removed || datum.is_partial || datum.out_of_view || datum.refresh_put_off || datum.writers != 0 ||
      !datum.dirty() || datum.home.arriving != nullptr)
    return;
  Replica* const source = state_.source_of(datum, datum.home.node);
  if (source == nullptr || source->node != from || source->state != ReplicaState::valid) return;
  transfers_.enqueue(transfers_.make(*source, datum.home, Cause::flush), effects);
}

}  // namespace fairlead::memory
