// Measures the bandwidth of copies from memory to memory, by one thread per direction.
#pragma once
#include <fairlead/ids.hpp>

#include "base/time.hpp"

namespace fairlead::backend {

struct MemoryMeasurement {
  double copy_rate = 0,
         duplex_rate = 0;  ///< bytes per second: of one copy; of two concurrent ones in opposite
                           ///< directions, summed
  Duration latency{};      ///< of copying one page
};

/// Copies `bytes`, more than the caches hold, several times; returns medians. Based on CPU time, so that other
/// programs do not distort it.
MemoryMeasurement measure_memory(Bytes bytes = Bytes{128} << 20);

}  // namespace fairlead::backend
