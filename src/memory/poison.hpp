// Which data have no value, since a task that was to write them failed or was cancelled.
#pragma once
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
  void clear(Datum& datum) noexcept { datum.poisoned = false; }
  bool is_read_by(const Task& task) const noexcept {
    if (!seen_) return false;
    for (const Access& access : task.accesses())
      if (reads(access.mode) && state_.data[access.datum].poisoned) return true;
    return false;
  }

 private:
  State& state_;
  bool seen_ = false;  // ever: spares the search where nothing failed
};

}  // namespace fairlead::memory
