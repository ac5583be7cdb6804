// An estimated duration and the basis of the estimate.
#pragma once
#include <cstdint>

#include "base/time.hpp"

namespace fairlead::model {

/// From the weakest to the strongest.
enum class Basis : std::uint8_t {
  nothing,     // no task of the codelet has run on such a worker
  few,         // too few tasks, or tasks of other sizes only, without a trend
  formula,     // the codelet's own formula, never compared with a measurement
  regression,  // tasks of other sizes
  history,     // tasks of the same footprint
};

/// A core is excluded after its first task if it takes more than this many times as long as an accelerator.
inline constexpr int far_slower = 8;

struct Estimate {
  Duration duration{1000};  ///< at least 1 ns
  Basis basis = Basis::nothing;

  /// True if a policy may rely on the estimate. If false, some tasks should be tried there first.
  bool known() const noexcept { return basis >= Basis::formula; }
};

}  // namespace fairlead::model
