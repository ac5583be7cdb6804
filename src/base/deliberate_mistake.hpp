// Mistakes that memory and engine make on purpose, so that tests can show that they would be noticed. They
// are compiled with the option FAIRLEAD_DELIBERATE_MISTAKES only; without it not one branch of them is left.
#pragma once
#include <cstdint>

namespace fairlead {

enum class Mistake : std::uint8_t {
  none,
  // In memory.
  leaving_not_invalidated,    // a write elsewhere leaves a copy in state leaving alive
  leaving_revived_stale,      // a replica on its way out is used again although it was written elsewhere
  pin_forgotten,              // a finished task keeps one pin
  write_back_overtakes,       // a write-back that lands late makes the home current
  dirty_dropped,              // eviction drops the only copy of the newest version
  writer_ignores_write_back,  // a task changes a replica that is being read for a write-back
  claimant_ignored,           // freed space goes to whoever asks first
  overtaken_copy_served,      // a copy that carries an old version is given to a reader
  arriving_not_joined,        // a second reader takes an arriving replica for valid
  failed_copy_ignored,        // a copy that failed counts as landed
  poison_forgotten,           // data of failed tasks pass as good
  token_ignored,              // commutative tasks run at the same time
  source_not_pinned,          // a replica may leave while a copy reads it
  own_data_evicted,           // what a task has already makes room for what it lacks
  removed_in_flight,          // a datum is forgotten while copies of it are under way
  passed_not_joined,          // what a copy will leave in the cache that it passes is taken for there already
  refuge_taken_for_home,      // what left a device for RAM counts as safe at home
  hold_not_pinned,            // what the application holds may leave
  partial_not_folded,         // a partial result counts as empty when it is to be folded
  partial_kept,               // a partial result that was folded is added to again
  partial_outlives_value,     // a write that replaces a value leaves what is in its partial results
  handed_on_too_soon,         // a copy that joined another starts before that has landed
  written_made_anew,          // what was made once is made again although it was written since
  loss_forgotten,             // data that were on a lost device only pass as good
  cut_off_copy_served,        // a copy that failed since its source was lost counts as landed
  lost_results_kept,          // what a task ended well that was on a lost device counts as written
  // In the engine.
  successors_told_first,  // a task's successors are served before its own end
  returned_task_lost,     // a task that was taken back from a worker is given to nobody
  lost_worker_served,     // a worker that is lost keeps what it was given
  event_lost,             // now and then the end of a copy is not served
  hold_write_forgotten,   // what the application has written while it held a datum counts as unchanged
  refresh_forgotten,      // after a wait the program's own memory is left as it was
};

/// The one that an engine makes.
class DeliberateMistake {
 public:
#ifdef FAIRLEAD_DELIBERATE_MISTAKES
  constexpr DeliberateMistake(Mistake made = Mistake::none) noexcept : made_(made) {}
  /// Not inlined: `nm` finds it wherever a mistake can be made.
  [[gnu::noinline]] bool is(Mistake mistake) const noexcept { return made_ == mistake; }

 private:
  Mistake made_;
#else
  static constexpr bool is(Mistake) noexcept { return false; }
#endif
};

}  // namespace fairlead
