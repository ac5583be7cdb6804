// The median of several runs, for all benchmarks.
#pragma once
#include <algorithm>
#include <vector>

/// For an even number of runs, the larger of the two in the middle.
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}
