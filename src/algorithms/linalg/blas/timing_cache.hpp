// The timings of a machine's BLAS libraries, kept from run to run in a readable file, one per processor model
// and set of candidates. A file that is damaged, of another version, or older than the libraries counts as
// absent.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/blas/blas_timing.hpp"
#include "algorithms/linalg/blas/core_types.hpp"
#include "base/kept_file.hpp"

namespace fairlead::linalg {

struct BlasTimings {
  std::vector<BlasTiming> timings;  ///< as they were taken; the first is the default
  std::vector<std::pair<BlasCandidate, std::string>> failures;  ///< with the reasons
};

/// What the timings depend on.
struct TimingKey {
  Processor processor;
  int tile = 0;
  std::vector<std::string> libraries;
  std::string inherited_core_type;
};

/// One such file, locked against other processes while this lives: who comes second waits, and finds the
/// timings.
class TimingCache {
 public:
  /// Makes `directory` if needed. Throws SystemError naming the path if it cannot be made or written to.
  TimingCache(const std::filesystem::path& directory, TimingKey key);

  const std::filesystem::path& file() const noexcept { return file_.path(); }

  std::optional<BlasTimings> read() const;

  /// Throws SystemError naming the file.
  void write(const BlasTimings& timings) const;

 private:
  TimingKey key_;
  KeptFile file_;
  KeptFile::Lock lock_;
};

}  // namespace fairlead::linalg
