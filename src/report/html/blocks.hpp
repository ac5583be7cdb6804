// Merges short tasks into blocks, for runs with more tasks than the page can show individually.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "trace/snapshot.hpp"

namespace fairlead::report::html {

/// One task, or several consecutive short ones that are drawn as one.
struct TaskBlock {
  Time start{}, end{};
  Duration busy{};
  std::uint64_t count = 0;
  const trace::TaskRecord* longest = nullptr;
};

/// Merges tasks shorter than `together` as long as their block is not longer than that. `tasks`: in order of their
/// start.
std::vector<TaskBlock> blocks_of(std::span<const trace::TaskRecord> tasks, Duration together);

}  // namespace fairlead::report::html
