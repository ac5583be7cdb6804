// How long the tasks of a codelet take: learned while they run, in integers, so that a replay estimates the
// same.
#pragma once
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "data/task.hpp"
#include "machine/worker_kind.hpp"

namespace fairlead::model {

/// Per codelet and worker kind, the mean of the last tasks. The first one is left out where there are more:
/// it pays for cold caches and lazily loaded code. (Outliers are cut at four times the mean.)
class DurationModel {
 public:
  void record(const CodeletInfo* codelet, WorkerKind kind, Duration duration) {
    Entry& entry = entry_of(codelet, kind);
    const std::int64_t sample = duration.count();
    if (entry.samples++ <= 1) {
      entry.mean_x16 = sample * 16;
      return;
    }
    const std::int64_t cut = sample * 4 > entry.mean_x16 ? entry.mean_x16 / 4 + 1 : sample;
    entry.mean_x16 += cut - entry.mean_x16 / 16;
  }
  /// 1 microsecond for what never ran.
  Duration estimate(const CodeletInfo* codelet, WorkerKind kind) const {
    for (const Entry& entry : entries_)
      if (entry.codelet == codelet && entry.kind == kind) return Duration(entry.mean_x16 / 16 + 1);
    return Duration(1000);
  }

 private:
  struct Entry {
    const CodeletInfo* codelet;
    WorkerKind kind;
    std::uint64_t samples = 0;
    std::int64_t mean_x16 = 0;  // exponential mean over about 16 samples, times 16
  };
  Entry& entry_of(const CodeletInfo* codelet, WorkerKind kind) {
    if (last_ < entries_.size() && entries_[last_].codelet == codelet && entries_[last_].kind == kind)
      return entries_[last_];
    for (last_ = 0; last_ < entries_.size(); ++last_)
      if (entries_[last_].codelet == codelet && entries_[last_].kind == kind) return entries_[last_];
    return entries_.emplace_back(Entry{codelet, kind});
  }
  std::vector<Entry> entries_;  // few: one per codelet
  std::size_t last_ = 0;
};

}  // namespace fairlead::model
