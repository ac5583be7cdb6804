// With fixed-order the bits are equal in every run with CUDA devices, for any policy, cores, streams, memory limit and order of
// operations in the driver. Its kernels round differently than the cores', so a task that moves between them is detected.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/linalg/qr_world.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"

namespace fairlead::tests {

namespace {

struct CoresAndDevices {
  const char* devices;
  const char* policy;
  std::size_t workers;
};
constexpr CoresAndDevices machines[] = {
    {"cuda:0,memory=60KiB", "eager", 1},
    {"cuda:0,memory=100KiB,streams=4", "dmdas", 2},
    {"cuda:0,memory=60KiB + cuda:1,memory=90KiB,streams=2", "lws", 2},
    {"cuda:0,memory=60KiB,peers=off + cuda:1,memory=90KiB,streams=2", "dmda", 2},
    {"cuda:1,memory=1MiB,streams=2 + emulated:memory=60KiB", "darts", 1},
    {"emulated:memory=200KiB + cuda:0,memory=70KiB", "near", 3},
    {"cuda:0,memory=80KiB,count=2", "heft-tm", 1},
    {"cuda:0,memory=4MiB,streams=3", "blocks", 2},
};

/// Checks that the bits of `run` are equal on all machines. Returns how often they differ without fixed-order.
template <class Run>
int compare(const Run& run) {
  const auto on = [&](const CoresAndDevices& machine, std::uint64_t seed, bool fixed) {
    const FakeDevices devices(2, seed, 20);
    return run(linalg::testing::Setting{.workers = machine.workers,
                                        .scheduler = machine.policy,
                                        .devices = machine.devices,
                                        .fixed_order = fixed});
  };
  const auto first = on(machines[0], 1, true);
  int others = 0;
  std::uint64_t seed = 1;
  for (const CoresAndDevices& machine : machines) {
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(on(machine, ++seed, true) == first) << machine.devices;
    others += !(on(machine, ++seed, false) == first);
  }
  return others;
}

}  // namespace

TEST(CudaFixedOrder, GivesCholeskyTheSameBits) {
  const auto a = std::make_shared<linalg::GeneratedSpd<double>>(150, 11);
  EXPECT_GT(compare([&](const auto& setting) { return linalg::testing::factor<double>(a, 24, setting); }), 0);
}

TEST(CudaFixedOrder, GivesLuTheSameBits) {
  const auto a = std::make_shared<linalg::GeneratedSpd<double>>(120, 12);
  EXPECT_GT(compare([&](const auto& setting) { return linalg::testing::lu_factors<double>(a, 24, setting); }),
            0);
}

TEST(CudaFixedOrder, GivesQrTheSameBits) {
  const linalg::Kernels kernels = linalg::testing::kernels().with_cuda_kernels(image_of_kernels);
  const auto a = linalg::testing::uniform<double>(75, 50, 13);
  for (const linalg::QrTree tree : linalg::testing::trees) {
    if (tree == linalg::QrTree::flat && !many_cases()) continue;
    EXPECT_GT(compare([&](const auto& setting) {
                return linalg::testing::qr_factors<double>(a, 20, tree, setting, nullptr, 0, kernels);
              }),
              0);
  }
}

// Two bodies for each kind, of which the second adds in reverse order; and reductions over many tasks.
TEST(CudaFixedOrder, UsesTheFirstOfSeveralBodies) {
  constexpr long size = 64;
  const auto forwards = [](const double* x, double* sum) {
    for (long i = 0; i < size; ++i) *sum += x[i] / 3;
  };
  const auto backwards = [](const double* x, double* sum) {
    for (long i = size; i-- > 0;) *sum += x[i] / 3;
  };
  const auto there = [](auto add) {
    return [add](CudaStream stream, In<Vector<double>> x, InOut<double> sum) {
      stream.check(fake_cuda::launch(
                       stream, "add",
                       {{x.data(), size * sizeof(double), false}, {sum.operator->(), sizeof(double), true}},
                       [add](auto at) {
                         add(reinterpret_cast<const double*>(at[0]), reinterpret_cast<double*>(at[1]));
                       }),
                   "the kernel");
    };
  };
  const auto here = [](auto add) {
    return [add](In<Vector<double>> x, InOut<double> sum) { add(x.data(), sum.operator->()); };
  };
  const auto both_there =
      codelet("there").cuda("forwards", there(forwards)).cuda("backwards", there(backwards));
  const auto both_here = codelet("here").cpu("forwards", here(forwards)).cpu("backwards", here(backwards));
  std::vector<double> numbers(size);
  for (long i = 0; i < size; ++i) numbers[static_cast<std::size_t>(i)] = 1e3 / static_cast<double>(i + 1);
  int others = 0;
  for (const bool fixed : {true, false})
    // On a busy machine the other body may be tried in none of five runs.
    for (std::uint64_t seed = 1; seed <= (fixed ? 5 : 100) && others == 0; ++seed) {
      const FakeDevices devices(1, seed, 20);
      double sum = 0, expected = 0;
      {
        Config config = cuda_machine("cuda:0,memory=64KiB,streams=2");
        config.set("fixed-order", fixed);
        Runtime runtime(config);
        const auto x = runtime.vector<double>("x", numbers.data(), size);
        const auto s = runtime.value("sum", sum);
        Flow flow(runtime);
        for (int i = 0; i < 24; ++i) {
          flow.submit(both_there(x, s));
          flow.submit(both_here(x, s));
          for (int side = 0; side < 2; ++side) forwards(numbers.data(), &expected);
        }
        flow.wait();
      }
      if (fixed)
        EXPECT_EQ(sum, expected) << seed;
      else
        others += sum != expected;
    }
  EXPECT_GT(others, 0);
}

}  // namespace fairlead::tests
