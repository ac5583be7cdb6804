// QR on the fake CUDA devices by Fairlead's own kernels, together with cores: each applies the reflectors of the other. Checked
// by the product of the factors.
#include <fairlead/qr.hpp>

#include <gtest/gtest.h>

#include <string>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/qr_world.hpp"
#include "at_length.hpp"
#include "cuda/platform.hpp"
#include "fake_cuda/fake_cuda.hpp"

namespace fairlead::linalg::testing {

namespace {

const Kernels& with_own_kernels() {
  static const Kernels all = kernels().with_cuda_kernels(tests::image_of_kernels);
  return all;
}

template <class T>
class CudaQrFlows : public ::testing::Test {};
using PrecisionsOfCudaQr = BothOrFirst<double, float>;
TYPED_TEST_SUITE(CudaQrFlows, PrecisionsOfCudaQr);

struct Shape {
  int m, n, tile, block;
};
// Square and tall, divided by their tiles or not, last tiles of fewer rows than columns, one column.
constexpr Shape shapes[] = {{96, 96, 32, 0}, {101, 101, 24, 5}, {130, 45, 32, 7},
                            {97, 24, 24, 0}, {75, 53, 20, 20},  {70, 1, 16, 1}};

struct Machine {
  const char *devices, *policy;
  std::size_t workers = 1;
  Bytes memory = plenty;
  bool fixed_order = false;
};
constexpr Machine machines[] = {
    {"cuda:0,memory=64KiB", "eager"},
    {"cuda:0,memory=1MiB,streams=2", "dmdas", 1, Bytes{200} << 10},
    {"cuda:0,memory=128KiB + cuda:1,memory=1MiB,streams=2", "darts", 2},
    {"cuda:0,memory=512KiB,streams=2 + cuda:1,memory=512KiB", "lws", 1, plenty, true},
    {"cuda:1,memory=256KiB,workspace=4KiB + emulated:memory=256KiB", "heft-tm"},
};

}  // namespace

TYPED_TEST(CudaQrFlows, HaveASmallResidualAndAnOrthogonalQ) {
  using T = TypeParam;
  std::uint64_t seed = 0;
  for (const Shape& shape : shapes)
    for (const QrTree tree : trees)
      for (const Machine& machine : machines) {
        if (++seed % (tests::sanitized ? 4 : 2) != 1 && !tests::at_length())
          continue;  // an odd number of machines: each gets each shape with one of the trees
        const tests::FakeDevices devices(2, seed, 20);
        const auto a = uniform<T>(shape.m, shape.n, seed);
        const Setting setting{.workers = machine.workers,
                              .memory = machine.memory,
                              .scheduler = machine.policy,
                              .devices = machine.devices,
                              .fixed_order = machine.fixed_order};
        expect_right<T>(
            a, qr_factors<T>(a, shape.tile, tree, setting, nullptr, shape.block, with_own_kernels()),
            text(shape.m, shape.n, shape.tile, tree) + ", " + machine.devices + ", " + machine.policy);
        if (machine.fixed_order) {
          EXPECT_GT(fake_cuda::calls()["cuLaunchKernel"], 3);
        }
      }
}

TEST(CudaQrKernels, AreNotUsedIfMissing) {
  const tests::FakeDevices devices;
  const auto a = uniform<double>(60, 40, 1);
  const Setting setting{
      .workers = 1, .scheduler = "eager", .devices = "cuda:0,memory=1MiB", .fixed_order = true};
  const Kernels without = kernels().with_cuda_kernels("");
  EXPECT_FALSE(without.has_cuda_kernels());
  expect_right<double>(a, qr_factors<double>(a, 20, QrTree::flat, setting, nullptr, 0, without), "on cores");
  EXPECT_EQ(fake_cuda::operations(), 0u);  // not even a copy
}

}  // namespace fairlead::linalg::testing
