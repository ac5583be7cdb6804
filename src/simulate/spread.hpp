// One policy on one size, with several seeds: the mean of what the runs came to, beside the least and the
// most; and as a table for other programs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "simulate/outcome.hpp"

namespace fairlead::simulate {

struct Spread {
  double sum = 0, least = std::numeric_limits<double>::infinity(),
         most = -std::numeric_limits<double>::infinity();
  std::uint64_t count = 0;

  void add(double value) {
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
    ++count;
  }
  double mean() const noexcept { return sum / static_cast<double>(count); }
};

/// Runs that did not finish are counted, and are in no mean.
struct Runs {
  std::string scheduler;
  std::uint64_t runs = 0, first_seed = 0;
  Spread seconds{}, gflops{}, percent_of_peak{}, bytes_to_devices{}, bytes_from_devices{},
      bytes_between_devices{}, bytes_from_disk{}, bytes_to_disk{};
  /// To the first policy with the same seed, if it has been compared.
  Spread time_ratio{}, bytes_ratio{};

  void add(const Outcome& outcome, const Limits& limits);
  void compare(const Outcome& outcome, const Outcome& first);
};

/// The names of the columns; a line, as all below. RFC 4180, with units in the names; what is not known is
/// empty.
std::string csv_heading();
std::string csv_line(const Runs& runs, std::string_view machine, std::string_view workload,
                     const WorkloadSize& size);

}  // namespace fairlead::simulate
