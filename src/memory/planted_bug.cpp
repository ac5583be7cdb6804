// The names of planted bugs, for tests' messages.
#include <array>

#include "memory/memory.hpp"

namespace fairlead::memory {

std::string_view name_of(PlantedBug bug) noexcept {
  static constexpr std::array<std::string_view, planted_bug_count> names{
      "none",
      "leaving_not_invalidated",
      "leaving_revived_stale",
      "pin_forgotten",
      "write_back_overtakes",
      "dirty_dropped",
      "writer_ignores_write_back",
      "claimant_ignored",
      "overtaken_copy_served",
      "arriving_not_joined",
      "failed_copy_ignored",
      "poison_forgotten",
      "token_ignored",
      "source_not_pinned",
      "own_data_evicted",
      "removed_in_flight",
      "passed_not_joined",
      "refuge_taken_for_home",
      "hold_not_pinned",
      "partial_not_folded",
      "partial_kept",
      "written_made_anew",
      "successors_told_first",
      "returned_task_lost",
      "event_lost",
      "hold_write_forgotten",
  };
  return names[static_cast<std::size_t>(bug)];
}

}  // namespace fairlead::memory
