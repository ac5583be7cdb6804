// A mistake without a name here does not compile.
#include "random/mistakes.hpp"

namespace fairlead::random_runs {

std::string_view name_of(Mistake mistake) noexcept {
  using enum Mistake;
  switch (mistake) {
    case none:
      break;
    case leaving_not_invalidated:
      return "leaving_not_invalidated";
    case leaving_revived_stale:
      return "leaving_revived_stale";
    case pin_forgotten:
      return "pin_forgotten";
    case write_back_overtakes:
      return "write_back_overtakes";
    case dirty_dropped:
      return "dirty_dropped";
    case writer_ignores_write_back:
      return "writer_ignores_write_back";
    case claimant_ignored:
      return "claimant_ignored";
    case overtaken_copy_served:
      return "overtaken_copy_served";
    case arriving_not_joined:
      return "arriving_not_joined";
    case failed_copy_ignored:
      return "failed_copy_ignored";
    case poison_forgotten:
      return "poison_forgotten";
    case token_ignored:
      return "token_ignored";
    case source_not_pinned:
      return "source_not_pinned";
    case own_data_evicted:
      return "own_data_evicted";
    case removed_in_flight:
      return "removed_in_flight";
    case passed_not_joined:
      return "passed_not_joined";
    case refuge_taken_for_home:
      return "refuge_taken_for_home";
    case hold_not_pinned:
      return "hold_not_pinned";
    case partial_not_folded:
      return "partial_not_folded";
    case partial_kept:
      return "partial_kept";
    case stale_partial_kept:
      return "stale_partial_kept";
    case handed_on_too_soon:
      return "handed_on_too_soon";
    case written_regenerated:
      return "written_regenerated";
    case loss_forgotten:
      return "loss_forgotten";
    case cut_off_copy_served:
      return "cut_off_copy_served";
    case lost_results_kept:
      return "lost_results_kept";
    case successors_first:
      return "successors_first";
    case returned_task_lost:
      return "returned_task_lost";
    case lost_worker_served:
      return "lost_worker_served";
    case event_lost:
      return "event_lost";
    case hold_write_forgotten:
      return "hold_write_forgotten";
    case refresh_forgotten:
      return "refresh_forgotten";
  }
  return "";
}

std::vector<Mistake> mistakes() {
  std::vector<Mistake> all;
  for (int i = 1; !name_of(static_cast<Mistake>(i)).empty(); ++i) all.push_back(static_cast<Mistake>(i));
  return all;
}

}  // namespace fairlead::random_runs
