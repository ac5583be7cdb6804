// How many tasks another worker must have before an idle one steals some. A theft costs their owner a line of the cache, as
// much as one of the tiniest tasks does: so of those a few are worth waiting for. One that takes longer is worth having.
#pragma once
#include <cstddef>

#include "base/time.hpp"

namespace fairlead::backend {

/// One worker's, by what it ran last.
class Restraint {
 public:
  /// It ran so many tasks of the direct lane, which took so long together.
  void ran(unsigned tasks, Duration took) noexcept { some_ = took < worth_a_theft * tasks; }
  /// It has waited for a while.
  void give_up() noexcept { some_ = false; }
  bool some() const noexcept { return some_; }
  /// Fewer it leaves to their owner.
  std::size_t least() const noexcept { return some_ ? enough : 1; }

  static constexpr std::size_t enough = 16;
  static constexpr Duration worth_a_theft{300};

 private:
  bool some_ = false;
};

}  // namespace fairlead::backend
