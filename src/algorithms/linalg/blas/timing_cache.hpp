// A persistent cache of the timings of a machine's BLAS libraries: a readable file for each processor model and set of
// candidates. A file that is damaged, of another version, or older than the libraries is ignored.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/blas/blas_timing.hpp"
#include "algorithms/linalg/blas/core_types.hpp"
#include "base/shared_file.hpp"

namespace fairlead::linalg {

struct BlasTimings {
  std::vector<BlasTiming> timings;  ///< in the order of timing; the first is the default
  std::vector<std::pair<BlasCandidate, std::string>> failures;  ///< with the reasons
};

/// Everything that the timings depend on.
struct TimingKey {
  CpuInfo processor;
  int tile = 0;
  std::vector<std::string> libraries;
  std::string inherited_core_type;
};

/// One cache file, locked against other processes during the lifetime of the object: a second process waits, and then
/// finds the timings.
class TimingCache {
 public:
  /// Creates `directory` if needed. Throws SystemError naming the path if it cannot be created or written.
  TimingCache(const std::filesystem::path& directory, TimingKey key);

  const std::filesystem::path& file() const noexcept { return file_.path(); }

  std::optional<BlasTimings> read() const;

  /// Throws SystemError naming the file.
  void write(const BlasTimings& timings) const;

 private:
  TimingKey key_;
  SharedFile file_;
  SharedFile::Lock lock_;
};

}  // namespace fairlead::linalg
