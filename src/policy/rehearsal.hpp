// What would happen under another policy, asked before it does.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/time.hpp"
#include "data/task.hpp"

namespace fairlead {

class Rehearsal {
 public:
  virtual ~Rehearsal() = default;
  /// Plays unfinished tasks, in the order of the program and as if none had run, under the policy of that name:
  /// on the machine as the engine knows it, with all data at home, tasks that take as long as they are estimated
  /// to, and results that go home. Returns when `enough` of their work was over, each task's where it is fastest;
  /// all of it: when the last result is home. Duration::max(): that takes longer than `patience`, or it cannot be
  /// played.
  virtual Duration play(std::string_view policy, std::span<Task* const> tasks, Duration enough,
                        Duration patience) = 0;
};

}  // namespace fairlead
