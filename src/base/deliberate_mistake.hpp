// Bugs that memory manager and engine can inject, so that tests can show that they are detected. Compiled only with
// the option FAIRLEAD_DELIBERATE_MISTAKES; without it no branch of them remains.
#pragma once
#include <cstdint>

namespace fairlead {

enum class Mistake : std::uint8_t {
  none,
  // In the memory manager.
  leaving_not_invalidated,  // a write elsewhere does not invalidate a replica in state leaving
  leaving_revived_stale,    // a replica that is being evicted is used again although it was written elsewhere
  pin_forgotten,            // a finished task keeps one pin
  write_back_overtakes,     // a write-back that arrives late marks the home as current
  dirty_dropped,            // eviction discards the only replica of the newest version
  writer_ignores_write_back,  // a task changes a replica while a write-back reads it
  claimant_ignored,           // freed space goes to any task, not to the one that claims it
  overtaken_copy_served,      // a copy that carries an old version is passed to a reader
  arriving_not_joined,        // a second reader takes an arriving replica for a valid one
  failed_copy_ignored,        // a failed copy counts as finished
  poison_forgotten,           // data of failed tasks count as valid
  token_ignored,              // commutative tasks run at the same time
  source_not_pinned,          // a replica can be evicted while a copy reads it
  own_data_evicted,           // data that a task already has are evicted to make space for its missing data
  removed_in_flight,          // a datum is removed while copies of it are in flight
  passed_not_joined,          // the staged replica that a copy will leave in an intermediate node counts as
                              // valid already
  refuge_taken_for_home,      // a replica evicted from a device to RAM counts as written back to its home
  hold_not_pinned,            // data in a hold of the application can be evicted
  partial_not_folded,         // a partial result counts as empty when it should be folded
  partial_kept,               // a folded partial result is added to again
  stale_partial_kept,         // a write that replaces a value does not discard its partial results
  handed_on_too_soon,         // a copy starts although its source is still arriving
  written_regenerated,        // a generated value is generated again although the datum was written since
  loss_forgotten,             // data that existed only on a lost device count as valid
  cut_off_copy_served,        // a copy that failed because its source was lost counts as finished
  lost_results_kept,          // the results of a task that succeeded on a lost device count as written
  // In the engine.
  successors_first,      // a task's successors are processed before its own completion
  returned_task_lost,    // a task recalled from a worker is dropped
  lost_worker_served,    // a lost worker keeps its tasks
  event_lost,            // now and then the completion of a copy is dropped
  hold_write_forgotten,  // what the application wrote during a hold counts as unchanged
  refresh_forgotten,     // a wait does not refresh the program's own memory
};

/// The mistake that an engine makes.
class DeliberateMistake {
 public:
#ifdef FAIRLEAD_DELIBERATE_MISTAKES
  constexpr DeliberateMistake(Mistake made = Mistake::none) noexcept : made_(made) {}
  /// Not inlined, so that `nm` shows each place where a mistake can be made.
  [[gnu::noinline]] bool is(Mistake mistake) const noexcept { return made_ == mistake; }

 private:
  Mistake made_;
#else
  static constexpr bool is(Mistake) noexcept { return false; }
#endif
};

}  // namespace fairlead
