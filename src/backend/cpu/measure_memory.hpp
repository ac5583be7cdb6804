// How fast memory is copied to memory, by one thread in each direction.
#pragma once
#include <fairlead/ids.hpp>

#include "base/time.hpp"

namespace fairlead::backend {

struct MemoryFigures {
  double copied = 0, both = 0;  ///< bytes per second of one copy; of two at once, there and back, together
  Duration latency{};           ///< of copying one page
};

/// Copies `bytes` (more than caches hold) a few times; the medians. By CPU time, so that other programs do not count.
MemoryFigures measure_memory(Bytes bytes = Bytes{128} << 20);

}  // namespace fairlead::backend
