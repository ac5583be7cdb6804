// Factorizations with products in TF32 on CUDA devices: products are rounded to TF32, other operations in the same streams
// are not.
#include <fairlead/linalg.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/linalg/world.hpp"
#include "cuda/platform.hpp"

namespace fairlead::tests {

namespace {

using ::testing::HasSubstr;

constexpr std::int32_t side_of_tiles = 24;

linalg::testing::Setting kernels_on(const char* devices, bool tf32, bool fixed_order = true) {
  return {.workers = 1, .scheduler = "eager", .devices = devices, .fixed_order = fixed_order, .tf32 = tf32};
}

template <class T>
std::shared_ptr<const linalg::GeneratedSpd<T>> rounded_matrix() {
  return std::make_shared<linalg::GeneratedSpd<T>>(150, 11);
}

template <class T>
linalg::testing::Dense<T> factor_on(const char* devices, bool tf32) {
  const FakeDevices fake(2);
  return linalg::testing::factor<T>(rounded_matrix<T>(), side_of_tiles, kernels_on(devices, tf32));
}

constexpr const char* one_device = "cuda:0,memory=100KiB,streams=2";

}  // namespace

// 1 + 2^-11 is halfway between two numbers of TF32, and becomes the even one, 1.
TEST(CudaTf32, RoundsFactorsToTenBits) {
  constexpr int n = 24;
  const auto given = [](float value) {
    return std::make_shared<linalg::testing::GivenMatrix<float>>(
        linalg::testing::Dense<float>{n, n, std::vector<float>(n * n, value)});
  };
  const auto product = [&](bool tf32) {
    const FakeDevices fake(1);
    Runtime runtime(linalg::testing::config_of(kernels_on(one_device, tf32)));
    const auto a = runtime.tiled<float>("A", n, n, n), b = runtime.tiled<float>("B", n, n, n),
               c = runtime.tiled<float>("C", n, n, n);
    Flow flow(runtime);
    linalg::fill<float>(flow, given(1 + 0x1p-11f), a, Tiles::all);
    linalg::fill<float>(flow, given(1), b, Tiles::all);
    const linalg::Kernels& kernels = linalg::testing::kernels();
    linalg::multiply<float>(flow, tf32 ? kernels.in_tf32() : kernels, 1, a, b, 0, c);
    linalg::wait_for_results(flow);
    return linalg::testing::fetch(flow, c)(n - 1, 0);
  };
  EXPECT_EQ(product(false), n * (1 + 0x1p-11f));
  EXPECT_EQ(product(true), n);
}

// In roundings of single precision: some thousands are one of TF32.
TEST(CudaTf32, RoundsTheFactorsOfProducts) {
  const auto a = linalg::testing::dense(*rounded_matrix<float>());
  const double full = linalg::testing::factor_residual(a, factor_on<float>(one_device, false));
  const double rounded = linalg::testing::factor_residual(a, factor_on<float>(one_device, true));
  EXPECT_LT(full, 1);
  EXPECT_GT(rounded, 10 * full);
  EXPECT_LT(rounded, 8192);
}

TEST(CudaTf32, DoesNotRoundDoubles) {
  EXPECT_TRUE(factor_on<double>(one_device, true) == factor_on<double>(one_device, false));
}

TEST(CudaTf32, HasNoEffectOnCores) {
  EXPECT_TRUE(factor_on<float>("", true) == factor_on<float>("", false));
  EXPECT_TRUE(factor_on<float>("emulated:memory=100KiB", true) ==
              factor_on<float>("emulated:memory=100KiB", false));
}

// Alternating in the same streams, whose handles have a mode: first with rounded kernels, then without, and again.
TEST(CudaTf32, AppliesOnlyToItsKernels) {
  const auto full = factor_on<float>(one_device, false), rounded = factor_on<float>(one_device, true);
  EXPECT_FALSE(full == rounded);
  const FakeDevices fake(1);
  Runtime runtime(linalg::testing::config_of(kernels_on(one_device, true)));
  const linalg::Kernels kernels = linalg::testing::kernels(), in_tf32 = kernels.in_tf32();
  EXPECT_FALSE(kernels.are_in_tf32());
  EXPECT_TRUE(in_tf32.are_in_tf32());
  Flow flow(runtime);
  for (const bool tf32 : {true, false, true, false}) {
    const auto a = runtime.tiled<float>("A", 150, 150, side_of_tiles, Tiles::lower);
    linalg::fill<float>(flow, rounded_matrix<float>(), a, Tiles::lower);
    linalg::cholesky(flow, tf32 ? in_tf32 : kernels, a);
    linalg::wait_for_results(flow);
    EXPECT_TRUE(linalg::testing::fetch(flow, a, Tiles::lower) == (tf32 ? rounded : full)) << tf32;
  }
  // 7 tiles a side: 21 solves, 21 of syrk and 35 products, twice; each tile is factored as a whole.
  EXPECT_EQ(in_tf32.calls_in_tf32(), 2u * 77);
  EXPECT_EQ(kernels.calls_in_tf32(), 0u);
}

TEST(CudaTf32, HasTheSameBitsInFixedOrder) {
  const auto first = factor_on<float>(one_device, true);
  for (const char* devices : {"cuda:0,memory=60KiB", "cuda:0,memory=60KiB + cuda:1,memory=90KiB,streams=2",
                              "cuda:1,memory=1MiB,streams=2 + emulated:memory=60KiB"})
    EXPECT_TRUE(factor_on<float>(devices, true) == first) << devices;
}

TEST(CudaTf32, NamesTheCallThatFails) {
  const FakeDevices fake(1);
  fake_cuda::fail("cublasSetMathMode", 1);
  try {
    linalg::testing::factor<float>(rounded_matrix<float>(), side_of_tiles, kernels_on(one_device, true));
    FAIL() << "it went well";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cuBLAS: cublasSetMathMode: its error"));
  }
}

}  // namespace fairlead::tests
