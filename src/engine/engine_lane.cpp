// The direct lane as the engine sees it: when it is open, what is let in, and what has to wait until nobody
// is inside.
#include <algorithm>

#include "base/check.hpp"
#include "engine/engine.hpp"

namespace fairlead::engine {

/// One memory that all workers share, and an order that asks nobody.
bool Engine::lane_is_possible() const noexcept {
  return options_.direct_lane && policy_->keeps_local_queues() && !log_.enabled && node_infos_.size() == 1 &&
         std::ranges::all_of(workers_, [&](const WorkerInfo& worker) {
           return worker.node == host_ && worker.kind == WorkerKind::cpu;
         });
}

bool Engine::try_open_lane() {
  const Guard guard{*this};
  if (!lane_possible_ || lane_pinned_ || fatal_ != nullptr || stop_error_ != 0) return false;
  if (spans_.any()) return false;  // it could not be seen who has nothing to do
  if (memory_.flushing() || !memory_.all_fit(host_) || memory_.bytes_of_data(host_) == lane_too_full_at_)
    return false;
  lane_pinned_ = true;
  lane_.open();
  return true;
}

void* Engine::let_into_lane(DatumId id, bool has_value) {
  return change(
      [&] { return lane_.generation() == 0 ? nullptr : memory_.keep_for_lane(id, host_, has_value); });
}

void Engine::failed_in_lane(const Task& task) {
  change([&] {
    lane_.close();
    memory_.poison_outputs(task);
  });
}

void Engine::note_duration(const Task& task, WorkerId worker, Duration duration) {
  change([&] {
    const model::Processor& processor = processors_[index(worker)];
    if (model_.wants(*task.codelet, processor))
      model_.record(*task.codelet, processor, footprint(task), duration);
  });
}

/// Closes the lane when there is reason to; ends it when it is closed and nobody is inside. True if that
/// changed what can be done now.
bool Engine::follow_lane() {
  if (!lane_pinned_) return false;
  if (memory_.lane_is_in_the_way() || !memory_.all_fit(host_)) {
    lane_too_full_at_ = memory_.bytes_of_data(host_);  // not again before there are more or less of them
    lane_.close();
  }
  if (!lane_.left()) return false;
  lane_pinned_ = false;
  memory_.end_lane();
  if (std::exchange(flush_after_lane_, false)) memory_.flush();
  if (std::exchange(drop_after_lane_, false)) memory_.drop_clean();
  return true;
}

/// What the program wants done to all data has to wait until no task changes them untold.
void Engine::flush_or_drop(EventKind kind) {
  const bool flush = kind == EventKind::flush;
  if (lane_pinned_) {
    lane_.close();
    (flush ? flush_after_lane_ : drop_after_lane_) = true;
  } else {
    flush ? memory_.flush() : memory_.drop_clean();
  }
}

}  // namespace fairlead::engine
