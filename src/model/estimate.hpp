// What a model says of a duration, and on what grounds.
#pragma once
#include <cstdint>

#include "base/time.hpp"

namespace fairlead::model {

/// From nothing to the best.
enum class Basis : std::uint8_t {
  nothing,     // no task of the codelet has run on such a worker
  few,         // too few tasks, or only ones of other sizes, from which nothing can be said about size
  formula,     // the codelet's own duration, never compared with a clock
  regression,  // tasks of other sizes
  history,     // tasks of the same footprint
};

/// So many times as long as an accelerator takes: that a core is that slow is known from its first task.
inline constexpr int far_slower = 8;

struct Estimate {
  Duration duration{1000};  ///< at least 1 ns
  Basis basis = Basis::nothing;

  /// Whether a policy may rely on it; otherwise some tasks should be tried there first.
  bool known() const noexcept { return basis >= Basis::formula; }
};

}  // namespace fairlead::model
