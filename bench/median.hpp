// The median of some runs, as all benchmarks have it.
#pragma once
#include <algorithm>
#include <vector>

/// Of an even number the larger one of the two in the middle.
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}
