// Measures a directory's disk under the runtime's access pattern: large chunks, several at once, bypassing the page
// cache.
#pragma once
#include <fairlead/ids.hpp>

#include <functional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace fairlead::backend {

struct DiskMeasurement {
  /// Size of the file; a multiple of `piece`, at least 4 of them.
  Bytes bytes = Bytes{1} << 30;
  unsigned threads = 4;
  /// Time limit of each pass, which then ends early, and of its repetitions.
  Duration longest = std::chrono::seconds(3);
  static constexpr Bytes piece = Bytes{4} << 20;
};

struct DiskMeasurementResult {
  double read = 0, written = 0, both = 0;  ///< bytes per second; `both`: concurrent reads and writes, summed
  Duration latency{};   ///< of reading one page at a random position on an idle disk: the median
  bool direct = false;  ///< bypasses the page cache; otherwise the cache is emptied before reading
  /// The largest fraction of a pass in which the threads were runnable without a core, because of other programs. The
  /// rates exclude that time; if it is large, they are unreliable.
  double without_core = 0;
};

/// Writes an unnamed file in `directory` several times; the first pass does not count, since it includes the allocation
/// of disk space. A write pass ends when the disk confirms the data. `part` is called at the start of each pass. Throws
/// SystemError if there is no space or the disk fails.
DiskMeasurementResult measure_disk(const std::string& directory, const DiskMeasurement& how,
                                   const std::function<void(std::string_view part)>& part);

}  // namespace fairlead::backend
