// Which data have no value, since a task that was to write them failed or was cancelled, or a device was lost that had
// the only newest version.
#pragma once
#include <map>
#include <optional>

#include "memory/state.hpp"

namespace fairlead::memory {

class Poison {
 public:
  explicit Poison(State& state) : state_(state) {}

  void mark(DatumId id) noexcept { state_.data[id].poisoned = seen_ = true; }
  /// A task that will never run: what it was to write.
  void mark_outputs(const Task& task) noexcept {
    if (state_.mistake.is(Mistake::poison_forgotten)) return;
    seen_ = true;
    state_.note_change();  // who reads that, and waits, is not to be admitted any more
    for (const Access& access : task.accesses())
      if (writes(access.mode)) mark(access.datum);
  }
  /// It has been written as a whole, or nothing of it is left.
  void clear(Datum& datum) noexcept {
    datum.poisoned = false;
    if (!lost_.empty()) lost_.erase(datum.home.datum);
  }
  /// Its newest version was on that node only, which is lost: there is nothing worth bringing home.
  void lose(DatumId id, NodeId with) {
    lost_[id] = with;
    mark(id);
  }
  /// The datum is gone.
  void forget(DatumId id) noexcept { lost_.erase(id); }
  /// With which node it was lost, if it was.
  std::optional<NodeId> lost_with(DatumId id) const noexcept {
    const auto found = lost_.find(id);
    return found == lost_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Of what was lost and has not been written since, by number.
  const std::map<DatumId, NodeId>& lost() const noexcept { return lost_; }
  /// What the task reads and was lost, if anything.
  std::optional<DatumId> lost_input(const Task& task) const noexcept {
    if (lost_.empty()) return std::nullopt;
    for (const Access& access : task.accesses())
      if (reads(access.mode) && lost_.contains(access.datum)) return access.datum;
    return std::nullopt;
  }
  bool is_read_by(const Task& task) const noexcept {
    if (!seen_) return false;
    for (const Access& access : task.accesses())
      if (reads(access.mode) && state_.data[access.datum].poisoned) return true;
    return false;
  }

 private:
  State& state_;
  bool seen_ = false;  // ever: spares the search where nothing failed
  std::map<DatumId, NodeId> lost_;
};

}  // namespace fairlead::memory
