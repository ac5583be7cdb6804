// Bounds against known volumes and orders of magnitude.
#include "report/bounds.hpp"

#include <fairlead/error.hpp>

#include <gtest/gtest.h>
#include <cmath>

namespace fairlead::report {

namespace {

constexpr double tile_gb = 1920.0 * 1920 * 4 / 1e9;  // FP32

}  // namespace

// Known volumes of a simulated device of 135 slots, in GB.
TEST(Bounds, LeadingTermsOfTilesInADeviceOf135Slots) {
  EXPECT_NEAR(cholesky_loads(57, 135) * tile_gb, 55.4, 0.05);
  EXPECT_NEAR(cholesky_loads_2020(57, 135) * tile_gb, 39.2, 0.05);
  EXPECT_NEAR(lu_loads(43, 135) * tile_gb, 67.3, 0.05);
  EXPECT_NEAR(gemm_loads(30, 30, 30, 135) * tile_gb, 68.5, 0.05);
}

TEST(Bounds, TheFloorOfThatCholeskyIsEightyGigabytes) {
  const IoBounds bounds = cholesky_bounds(57 * 1920, 4, Bytes(135) * 1920 * 1920 * 4);
  EXPECT_NEAR(static_cast<double>(bounds.floor_read()) / 1e9, 55.4 + 24.4,
              0.6);  // diagonal tiles by halves here
  EXPECT_EQ(bounds.floor(), bounds.floor_read() + bounds.results);
}

// With M = n^2 / 8 elements the leading term is 2/3 n^2.
TEST(Bounds, WithMemoryOfAQuarterOfTheTriangleAFloorOfTwoAndAHalfGigabytesIsRead) {
  const IoBounds bounds = cholesky_bounds(16384, 8, quarter_of_triangle(16384, 8));
  EXPECT_NEAR(static_cast<double>(bounds.leading_term), 8 * 2.0 / 3 * 16384 * 16384, 1e5);
  EXPECT_EQ(bounds.lower_bound(), bounds.leading_term);
  EXPECT_EQ(bounds.floor_read(), bounds.leading_term + 1'073'807'360);
  EXPECT_FALSE(bounds.fits);
}

TEST(Bounds, FourTimesTheMemoryHalvesTheLeadingTerm) {
  const IoBounds small = cholesky_bounds(10000, 8, 10 << 20), large = cholesky_bounds(10000, 8, 40 << 20);
  EXPECT_NEAR(static_cast<double>(small.leading_term), 2.0 * static_cast<double>(large.leading_term), 16);
}

TEST(Bounds, DataThatFitAreReadOnceAndWrittenOnce) {
  const Bytes triangle = triangle_bytes(1000, 8);
  for (const Bytes limit : {triangle, 10 * triangle}) {
    const IoBounds bounds = cholesky_bounds(1000, 8, limit);
    EXPECT_TRUE(bounds.fits);
    EXPECT_EQ(bounds.lower_bound(), triangle);
    EXPECT_EQ(bounds.floor_read(), triangle);
    EXPECT_EQ(bounds.floor(), 2 * triangle);
  }
}

TEST(Bounds, NoScheduleReadsLessThanItsInputs) {
  const IoBounds bounds = cholesky_bounds(1000, 8, triangle_bytes(1000, 8) * 3 / 4);
  EXPECT_LT(bounds.leading_term, bounds.inputs);
  EXPECT_EQ(bounds.lower_bound(), bounds.inputs);
}

TEST(Bounds, TheFloorOfAProductAddsTheResultOnly) {
  const IoBounds bounds = gemm_bounds(4000, 3000, 2000, 8, 1 << 20);
  EXPECT_EQ(bounds.floor_read(), bounds.leading_term + Bytes(4000) * 3000 * 8);
  EXPECT_EQ(bounds.inputs, Bytes(4000 * 2000 + 2000 * 3000 + 4000 * 3000) * 8);
  EXPECT_EQ(bounds.results, Bytes(4000) * 3000 * 8);
}

TEST(Bounds, LuReadsTheWholeSquare) {
  const IoBounds bounds = lu_bounds(4000, 4, 1 << 20);
  EXPECT_EQ(bounds.inputs, Bytes(4000) * 4000 * 4);
  EXPECT_EQ(bounds.floor_read(), bounds.leading_term + bounds.inputs);
  EXPECT_NEAR(static_cast<double>(bounds.leading_term), 4 * 2.0 * std::pow(4000.0, 3) / (3 * 512), 4);
}

TEST(Bounds, ALimitBelowOneElementIsRefused) {
  EXPECT_THROW(cholesky_bounds(1000, 8, 7), UsageError);
  EXPECT_THROW(gemm_bounds(10, 10, 10, 8, 0), UsageError);
}

TEST(Bounds, AQuarterOfTheTriangleDoesNotDependOnTiles) {
  EXPECT_EQ(triangle_bytes(3, 8), 48);
  EXPECT_EQ(quarter_of_triangle(16384, 8), 268'451'840);
}

}  // namespace fairlead::report
