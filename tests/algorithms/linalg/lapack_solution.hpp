// Solutions by LAPACK's own driver from the same library, for comparison.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "algorithms/linalg/world.hpp"
#include "base/shared_library.hpp"

namespace fairlead::linalg::testing {

/// LAPACK's solution, with partial pivoting.
template <class T>
Dense<T> gesv(Dense<T> a, Dense<T> b) {
  using Int = const std::int32_t*;
  static const auto library = SharedLibrary::open(kernels().blas().lapack_path());
  static const auto routine =
      library.template require<void(Int, Int, T*, Int, std::int32_t*, T*, Int, std::int32_t*)>(
          std::is_same_v<T, double> ? "dgesv_" : "sgesv_");
  const auto n = static_cast<std::int32_t>(a.rows), columns = static_cast<std::int32_t>(b.columns);
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  std::int32_t info = 0;
  routine(&n, &columns, a.elements.data(), &n, pivots.data(), b.elements.data(), &n, &info);
  EXPECT_EQ(info, 0);
  return b;
}

}  // namespace fairlead::linalg::testing
