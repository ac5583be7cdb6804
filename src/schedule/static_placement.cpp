// Divides a matrix's tiles into equal contiguous parts, counted row by row.
#include "schedule/static_placement.hpp"

#include <algorithm>

namespace fairlead::schedule {

const Access* StaticPlacement::leading_access(const Task& task) noexcept {
  const auto accesses = task.accesses();
  const auto written = std::ranges::find_if(accesses, [](const Access& it) { return writes(it.mode); });
  if (written != accesses.end()) return &*written;
  return accesses.empty() ? nullptr : &accesses.front();
}

bool StaticPlacement::writes_first(const Task& task, const Access& access) {
  if (!writes(access.mode)) return false;
  if (index(access.datum) >= first_writers_.size())
    first_writers_.resize(2 * index(access.datum) + 1, no_id<TaskId>);
  TaskId& first = first_writers_[index(access.datum)];
  if (first == no_id<TaskId>) first = task.id;
  return first == task.id;
}

std::size_t StaticPlacement::block_index(DatumId datum, std::size_t parts) {
  const View::Coordinates at = view_->coordinates(datum);
  if (at.row >= 0 && at.column >= 0) {
    const View::Extent all = view_->extent(at.collection);
    const auto wide = static_cast<std::uint64_t>(all.columns);
    const std::uint64_t tiles = static_cast<std::uint64_t>(all.rows) * wide;
    const std::uint64_t before =
        static_cast<std::uint64_t>(at.row) * wide + static_cast<std::uint64_t>(at.column);
    if (before < tiles) return static_cast<std::size_t>(before * parts / tiles);
  }
  if (index(datum) >= round_robin_index_.size()) round_robin_index_.resize(2 * index(datum) + 1);
  std::size_t& dealt = round_robin_index_[index(datum)];
  if (dealt == 0) dealt = ++assigned_count_;
  return (dealt - 1) % parts;
}

}  // namespace fairlead::schedule
