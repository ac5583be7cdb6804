// How fast a directory's disk is for what a runtime does with it: large pieces, several at once, past the
// page cache, down to the disk.
#pragma once
#include <fairlead/ids.hpp>

#include <functional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace fairlead::backend {

struct DiskMeasurement {
  /// Of the file that is written and read; a multiple of `piece`, at least 4 of it.
  Bytes bytes = Bytes{1} << 30;
  unsigned threads = 4;
  Duration longest = std::chrono::seconds(3);  ///< for each of the four parts; what is left of it is left out
  static constexpr Bytes piece = Bytes{4} << 20;
};

struct DiskFigures {
  double read = 0, written = 0, both = 0;  ///< bytes per second; both directions at once, together
  Duration latency{};   ///< of reading one page somewhere, nothing else going on: the median
  bool direct = false;  ///< past the page cache; else that was emptied before reading
  /// The largest part of a pass's time in which the threads wanted a core and had none, as other programs had them. It is not in
  /// the rates; where it is large these say little.
  double without_core = 0;
};

/// Writes a file without a name in `directory`, twice: the second time counts, as a disk first has to find
/// room. Writing is over when the disk says that the data are there. `part` is told what begins. Throws
/// SystemError if there is no room or the disk fails.
DiskFigures measure_disk(const std::string& directory, const DiskMeasurement& how,
                         const std::function<void(std::string_view part)>& part);

}  // namespace fairlead::backend
