// A helper for Policy::upcoming() that collects the reads of tasks.
#pragma once
#include <cstddef>
#include <span>

#include "data/task.hpp"

namespace fairlead::schedule {

/// Collects the data that tasks read while there is space. Policies call it at each event, so the number of tasks
/// scanned is limited: thousands may read nothing.
class UpcomingReads {
 public:
  explicit UpcomingReads(std::span<DatumId> out) noexcept : out_(out), tasks_left_(8 * out.size()) {}

  /// Returns false if more calls are useless.
  bool add(const Task& task) {
    if (tasks_left_ == 0) return false;
    --tasks_left_;
    for (const Access& access : task.accesses()) {
      if (written_ == out_.size()) return false;
      if (reads(access.mode)) out_[written_++] = access.datum;
    }
    return true;
  }
  std::size_t written() const noexcept { return written_; }

 private:
  const std::span<DatumId> out_;
  std::size_t written_ = 0, tasks_left_;
};

}  // namespace fairlead::schedule
