// Integer logarithms, and extrapolation of durations to sizes that never ran.
#include <gtest/gtest.h>

#include <cmath>

#include "model/fixed_point.hpp"
#include "model/size_regression.hpp"

namespace fairlead::model {

TEST(FixedPoint, LogarithmsMatchTheLibraryToAThousandth) {
  for (const double value : {1.0, 2.0, 3.0, 1000.0, 4096.0, 1e6, 123456789.0, 1e15, 9e18})
    EXPECT_NEAR(static_cast<double>(log2_of(static_cast<std::uint64_t>(value))) / log2_one, std::log2(value),
                1e-4)
        << value;
  EXPECT_EQ(log2_of(0), 0);
}

TEST(FixedPoint, PowerInvertsLogarithm) {
  for (std::uint64_t value = 1; value < std::uint64_t{1} << 50; value = value * 5 / 3 + 1) {
    const auto back = static_cast<double>(power_of_two(log2_of(value)));
    EXPECT_NEAR(back, static_cast<double>(value), static_cast<double>(value) * 1e-4 + 1);
  }
  EXPECT_EQ(power_of_two(200 * log2_one), std::int64_t{1} << 52);
  EXPECT_EQ(power_of_two(-5), 1);
}

namespace {

/// Durations a n^b + c of these sizes.
struct Law {
  double a, b, c;
  std::int64_t operator()(std::uint64_t n) const {
    return static_cast<std::int64_t>(a * std::pow(static_cast<double>(n), b) + c);
  }
};

SizeRegression measured(const Law& law, std::initializer_list<std::uint64_t> sizes) {
  SizeRegression regression;
  for (const std::uint64_t size : sizes) regression.add(size, law(size));
  regression.finish();
  return regression;
}

void expect_within(double part, const SizeRegression& regression, const Law& law, std::uint64_t size) {
  const auto truth = static_cast<double>(law(size));
  EXPECT_NEAR(static_cast<double>(regression.at(size)), truth, truth * part) << "size " << size;
}

}  // namespace

// A tile kernel: bytes to the power of 1.5.
TEST(SizeRegression, FindsAPowerLaw) {
  const Law law{0.01, 1.5, 0};
  const SizeRegression regression = measured(law, {100'000, 400'000, 1'600'000, 6'400'000});
  for (const std::uint64_t size : {200'000, 3'000'000, 25'000'000, 30'000})
    expect_within(0.01, regression, law, size);
}

// A constant 20 us plus a power: small sizes hardly differ, large ones follow the power.
TEST(SizeRegression, FindsThePowerDespiteAConstant) {
  const Law law{0.001, 1.5, 20'000};
  const SizeRegression regression =
      measured(law, {1'000, 2'000, 4'000, 8'000, 100'000, 200'000, 400'000, 800'000, 1'600'000, 3'200'000});
  expect_within(0.05, regression, law, 500);
  expect_within(0.05, regression, law, 3'000);
  expect_within(0.10, regression, law, 600'000);
  expect_within(0.10, regression, law, 12'800'000);
}

TEST(SizeRegression, ReturnsTheMeasuredDurationAtAMeasuredSize) {
  SizeRegression regression;
  regression.add(1000, 5000);
  regression.add(2000, 6000);
  regression.add(4000, 90'000);
  regression.finish();
  EXPECT_NEAR(static_cast<double>(regression.at(2000)), 6000, 5);
}

TEST(SizeRegression, ScalesProportionallyFromOneSize) {
  EXPECT_NEAR(static_cast<double>(measured({1, 1, 0}, {1'000'000}).at(3'000'000)), 3e6, 100);
}

TEST(SizeRegression, MergesShapesOfOneSize) {
  SizeRegression regression;
  regression.add(1000, 4000);
  regression.add(1000, 16'000);
  regression.finish();
  EXPECT_EQ(regression.sizes(), 1u);
  EXPECT_NEAR(static_cast<double>(regression.at(1000)), 8000, 5);
}

// Noise must not lead to shorter estimates for larger tasks.
TEST(SizeRegression, NeverEstimatesLargerTasksAsFaster) {
  SizeRegression regression;
  regression.add(1000, 5000);
  regression.add(1010, 4000);
  regression.finish();
  EXPECT_GE(regression.at(1'000'000), regression.at(2000));
}

}  // namespace fairlead::model
