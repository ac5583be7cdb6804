// The data that the tasks assigned to a node read. They count as present on the node, since these tasks cause their
// transfer.
#pragma once
#include <cstdint>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule {

class PendingReads {
 public:
  void assigned(const Task& task) { change(task, +1); }
  /// The task has finished, or is assigned to another node.
  void unassigned(const Task& task) { change(task, -1); }
  bool has(DatumId datum) const noexcept {
    return index(datum) < readers_.size() && readers_[index(datum)] != 0;
  }

 private:
  void change(const Task& task, int by) {
    for (const Access& access : task.accesses()) {
      if (!reads(access.mode)) continue;
      if (index(access.datum) >= readers_.size()) readers_.resize(2 * index(access.datum) + 1);
      readers_[index(access.datum)] += static_cast<std::uint32_t>(by);
    }
  }
  std::vector<std::uint32_t> readers_;  // by datum: unfinished tasks assigned to the node that read it
};

}  // namespace fairlead::schedule
