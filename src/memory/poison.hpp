// Data without a value: a task that should have written them failed or was cancelled, or a lost device had the only
// newest version.
#pragma once
#include <map>
#include <optional>

#include "memory/state.hpp"

namespace fairlead::memory {

class Poison {
 public:
  explicit Poison(State& state) : state_(state) {}

  /// Marks the datum as without a value.
  void mark(DatumId id) noexcept { state_.data[id].poisoned = seen_ = true; }
  /// Marks the outputs of a task that will never run.
  void mark_outputs(const Task& task) noexcept {
    if (state_.mistake.is(Mistake::poison_forgotten)) return;
    seen_ = true;
    state_.note_change();  // waiting tasks that read the outputs must not be admitted now
    for (const Access& access : task.accesses())
      if (writes(access.mode)) mark(access.datum);
  }
  /// The whole datum was written again, or its partial results were dropped.
  void clear(Datum& datum) noexcept {
    datum.poisoned = false;
    if (!lost_.empty()) lost_.erase(datum.home.datum);
  }
  /// The only newest version was on a node that is lost; there is no value to write back.
  void lose(DatumId id, NodeId with) {
    lost_[id] = with;
    mark(id);
  }
  /// The datum is removed.
  void forget(DatumId id) noexcept { lost_.erase(id); }
  /// The node with which the datum was lost, if any.
  std::optional<NodeId> lost_with(DatumId id) const noexcept {
    const auto found = lost_.find(id);
    return found == lost_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The lost data that have not been written since, by id.
  const std::map<DatumId, NodeId>& lost() const noexcept { return lost_; }
  /// A lost datum that the task reads, if any.
  std::optional<DatumId> lost_input(const Task& task) const noexcept {
    if (lost_.empty()) return std::nullopt;
    for (const Access& access : task.accesses())
      if (reads(access.mode) && lost_.contains(access.datum)) return access.datum;
    return std::nullopt;
  }
  /// True if the task reads a datum without a value.
  bool is_read_by(const Task& task) const noexcept {
    if (!seen_) return false;
    for (const Access& access : task.accesses())
      if (reads(access.mode) && state_.data[access.datum].poisoned) return true;
    return false;
  }

 private:
  State& state_;
  bool seen_ = false;  // anything was ever marked; avoids the search in runs without failures
  std::map<DatumId, NodeId> lost_;
};

}  // namespace fairlead::memory
