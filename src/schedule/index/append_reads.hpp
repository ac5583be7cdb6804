// What a policy answers to upcoming(), task by task.
#pragma once
#include <cstddef>
#include <span>

#include "data/task.hpp"

namespace fairlead::schedule {

/// Writes the data that the task reads behind the first `written` of `out`, as far as there is space. False
/// if it is used up: no use in going on.
inline bool append_reads(const Task& task, std::span<DatumId> out, std::size_t& written) {
  for (const Access& access : task.accesses()) {
    if (written == out.size()) return false;
    if (reads(access.mode)) out[written++] = access.datum;
  }
  return true;
}

}  // namespace fairlead::schedule
