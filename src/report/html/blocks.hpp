// Short tasks drawn together, where a run has more than a page can show apart.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "trace/snapshot.hpp"

namespace fairlead::report::html {

/// One task, or several short ones in a row that are drawn as one.
struct Block {
  Time start{}, end{};
  Duration busy{};
  std::uint64_t count = 0;
  const trace::TaskRecord* longest = nullptr;
};

/// Tasks shorter than `together` are joined as long as their block stays within it. `tasks`: in order of
/// their beginning.
std::vector<Block> blocks_of(std::span<const trace::TaskRecord> tasks, Duration together);

}  // namespace fairlead::report::html
