// Opening and closing of the fast path.
#include "engine/fast_path_control.hpp"

#include <utility>

namespace fairlead::engine {

bool FastPathControl::try_open() {
  if (!possible() || pinned_ || memory_.flushes().under_way() || !memory_.fast_path().all_fit(host_))
    return false;
  if (memory_.fast_path().bytes_of_data(host_) == too_full_at_) return false;
  pinned_ = true;
  fast_path_.open();
  return true;
}

bool FastPathControl::update() {
  if (!pinned_) return false;
  if (memory_.fast_path().in_the_way() || !memory_.fast_path().all_fit(host_)) {
    too_full_at_ =
        memory_.fast_path().bytes_of_data(host_);  // do not reopen before the amount of data changes
    fast_path_.close();
  }
  if (!fast_path_.is_drained()) return false;
  pinned_ = false;
  memory_.fast_path().end();
  if (std::exchange(flush_after_, false)) memory_.flushes().flush(effects_);
  if (std::exchange(drop_after_, false)) memory_.drop_clean();
  return true;
}

void FastPathControl::flush_or_drop(EventKind kind) {
  const bool flush = kind == EventKind::flush;
  if (pinned_) {
    fast_path_.close();
    (flush ? flush_after_ : drop_after_) = true;
  } else {
    flush ? memory_.flushes().flush(effects_) : memory_.drop_clean();
  }
}

}  // namespace fairlead::engine
