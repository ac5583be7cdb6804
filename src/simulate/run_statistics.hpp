// Statistics of one policy on one size, over several seeds: mean, minimum and maximum of each figure, and a CSV table
// of them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "simulate/run_outcome.hpp"

namespace fairlead::simulate {

struct RunStatistics {
  double sum = 0, min = std::numeric_limits<double>::infinity(),
         max = -std::numeric_limits<double>::infinity();
  std::uint64_t count = 0;

  void add(double value) {
    sum += value;
    min = std::min(min, value);
    max = std::max(max, value);
    ++count;
  }
  double mean() const noexcept { return sum / static_cast<double>(count); }
};

/// Unfinished runs are counted in `runs`, but in no mean.
struct PolicyStatistics {
  std::string scheduler;
  std::uint64_t runs = 0, first_seed = 0;
  RunStatistics seconds{}, gflops{}, percent_of_peak{}, bytes_to_devices{}, bytes_from_devices{},
      bytes_between_devices{}, bytes_from_disk{}, bytes_to_disk{};
  /// Relative to the first policy with the same seed, if compared.
  RunStatistics time_ratio{}, bytes_ratio{};

  void add(const RunOutcome& outcome, const Limits& limits);
  void compare(const RunOutcome& outcome, const RunOutcome& first);
};

/// CSV by RFC 4180, with units in the column names; unknown values are empty. Each line ends with a newline.
std::string csv_heading();
std::string csv_line(const PolicyStatistics& runs, std::string_view machine, std::string_view workload,
                     const WorkloadSize& size);

}  // namespace fairlead::simulate
