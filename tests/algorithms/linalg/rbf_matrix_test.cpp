// The kernel matrix of points: its elements, in any block, and solves with it.
#include "algorithms/linalg/rbf_matrix.hpp"

#include <fairlead/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace fairlead::linalg::testing {
namespace {

RbfMatrix::Points points(std::int64_t count, std::int64_t dimensions) {
  Random random(3);
  RbfMatrix::Points made{count, dimensions, {}};
  for (std::int64_t i = 0; i < count * dimensions; ++i)
    made.coordinates.push_back(static_cast<double>(random.between(-1000, 1000)) / 1000);
  return made;
}

TEST(RbfMatrix, HasTheElementsOfItsFormula) {
  // Two points at a distance of 5 in the plane, length scale 5: exp(-1/2).
  const RbfMatrix two({2, 2, {0, 3, 0, 4}}, 5, 0.25);
  std::vector<double> all(4);
  two.read(0, 2, 0, 2, all.data(), 2);
  EXPECT_EQ(all[0], 1.25);
  EXPECT_EQ(all[3], 1.25);
  EXPECT_DOUBLE_EQ(all[1], std::exp(-0.5));
  EXPECT_EQ(all[1], all[2]);
}

TEST(RbfMatrix, IsIndependentOfTheBlocksRead) {
  constexpr std::int64_t n = 37;
  const RbfMatrix matrix(points(n, 3), 0.5, 1e-3);
  std::vector<double> whole(n * n);
  matrix.read(0, n, 0, n, whole.data(), n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_EQ(whole[static_cast<std::size_t>(i + j * n)], whole[static_cast<std::size_t>(j + i * n)]);
      double one = 0;
      matrix.read(i, 1, j, 1, &one, 1);
      ASSERT_EQ(one, whole[static_cast<std::size_t>(i + j * n)]) << i << ", " << j;
    }
  std::vector<double> piece(7 * 5, -1);
  matrix.read(4, 5, 2, 5, piece.data(), 7);  // with a gap between columns
  for (std::int64_t j = 0; j < 5; ++j)
    for (std::int64_t i = 0; i < 7; ++i)
      ASSERT_EQ(piece[static_cast<std::size_t>(i + j * 7)],
                i < 5 ? whole[static_cast<std::size_t>(4 + i + (2 + j) * n)] : -1);
}

TEST(RbfMatrix, RejectsInvalidKernels) {
  EXPECT_THROW(RbfMatrix(points(2, 1), 0, 1e-3), UsageError);
  EXPECT_THROW(RbfMatrix(points(2, 1), -1, 1e-3), UsageError);
  EXPECT_THROW(RbfMatrix(points(2, 1), std::nan(""), 1e-3), UsageError);
  EXPECT_THROW(RbfMatrix(points(2, 1), 1e-200, 1e-3), UsageError);
  EXPECT_THROW(RbfMatrix(points(2, 1), 1, -1e-3), UsageError);
}

}  // namespace
}  // namespace fairlead::linalg::testing
