// Which data tasks that are assigned to a node will read: they count as there, since somebody brings them.
#pragma once
#include <cstdint>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule {

class RequestedData {
 public:
  void assigned(const Task& task) { change(task, +1); }
  /// It is over, or assigned to another one.
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
  std::vector<std::uint32_t> readers_;  // by datum: tasks assigned here and not over that read it
};

}  // namespace fairlead::schedule
