// What a policy answers to upcoming(), task by task.
#pragma once
#include <cstddef>
#include <span>

#include "data/task.hpp"

namespace fairlead::schedule {

/// Takes what tasks read, as far as there is space. A policy is asked at each event: so only so many tasks are looked at,
/// as there may be thousands that read nothing.
class UpcomingReads {
 public:
  explicit UpcomingReads(std::span<DatumId> out) noexcept : out_(out), tasks_left_(8 * out.size()) {}

  /// False: no use in going on.
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
