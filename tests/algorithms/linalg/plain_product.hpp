// A product by plain loops, the reference for factors. It takes n^3 steps, most of the time of many tests: it is compiled
// with optimization and without a sanitizer in every build (tests/CMakeLists.txt).
#pragma once
#include <cstdint>
#include <vector>

namespace fairlead::linalg::testing {

/// X Y, where X has `rows` x `inner` elements and Y `inner` x `columns`, all of them column by column.
std::vector<double> plain_product(const std::vector<double>& x, const std::vector<double>& y,
                                  std::int64_t rows, std::int64_t inner, std::int64_t columns);

}  // namespace fairlead::linalg::testing
