// See early_write_back.hpp.
#include "memory/early_write_back.hpp"

namespace fairlead::memory {

EarlyWriteBack::EarlyWriteBack(State& state, Transfers& transfers)
    : state_(state),
      transfers_(transfers),
      waiting_(state.topology.nodes.size()),
      evictions_before_(waiting_.size()) {
  for (const WorkerSpec& worker : state.topology.workers)
    for (std::size_t home = 0; home < waiting_.size(); ++home)
      possible_ |= !state.node(static_cast<NodeId>(home)).is_cache &&
                   leads_home(worker.node, static_cast<NodeId>(home));
}

/// Only duplex links, so that write-backs do not delay copies in the other direction.
bool EarlyWriteBack::leads_home(NodeId from, NodeId home) const noexcept {
  const Route& route = state_.routes.between(from, home);
  return route.exists() && transfers_.is_duplex(route);
}

void EarlyWriteBack::expect(const Task& task) {
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

/// True if this was the last known change of the datum; false if no change was known.
bool EarlyWriteBack::remove_change(DatumId datum) noexcept {
  if (index(datum) >= changes_ahead_.size() || changes_ahead_[index(datum)] == 0) return false;
  --changes_left_;
  return --changes_ahead_[index(datum)] == 0;
}

void EarlyWriteBack::forget(const Task& task) noexcept {
  if (!possible_) return;
  for (const Access& access : task.accesses())
    if (writes(access.mode)) remove_change(access.datum);
}

/// True if evictions happened on the node since the first of these changes: a replica that is clean now may be
/// evicted and be loaded again.
bool EarlyWriteBack::has_evicted(NodeId node) const noexcept {
  return state_.node(node).evictions != evictions_before_[index(node)];
}

void EarlyWriteBack::changed(const Task& task, Effects& effects) {
  if (!possible_) return;
  if (changes_over_ == 0)
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      evictions_before_[i] = state_.node(static_cast<NodeId>(i)).evictions;
  for (const Access& access : task.accesses()) {
    if (!writes(access.mode)) continue;
    ++changes_over_;
    if (!remove_change(access.datum)) continue;
    if (!leads_home(task.node, state_.data[access.datum].home.node)) continue;
    waiting_[index(task.node)].push_back(access.datum);
    ++all_waiting_;
  }
  go(effects);
  if (changes_left_ == 0) changes_over_ = 0;  // the next batch of changes has its own first half
}

void EarlyWriteBack::go(Effects& effects) {
  if (all_waiting_ == 0 || more_follow_) return;
  const bool first_half = changes_left_ > changes_over_;
  for (std::size_t node = 0; node < waiting_.size(); ++node) {
    if (first_half && has_evicted(static_cast<NodeId>(node))) continue;
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

void EarlyWriteBack::send(Datum& datum, NodeId from, Effects& effects) {
  // The id may belong to another datum now, or the datum is at home, or is changed again. A postponed refresh is not
  // needed yet.
  if (datum.removed || datum.is_partial || datum.out_of_view || datum.refresh_put_off || datum.writers != 0 ||
      !datum.dirty() || datum.home.arriving != nullptr)
    return;
  Replica* const source = state_.source_of(datum, datum.home.node);
  if (source == nullptr || source->node != from || source->state != ReplicaState::valid) return;
  transfers_.enqueue(transfers_.make(*source, datum.home, Cause::flush), effects);
}

}  // namespace fairlead::memory
