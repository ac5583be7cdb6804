// blocks on several devices with little memory and a shared bus: its transfers and its time, compared with darts.
// Single runs vary by a tenth when a size changes a little, so neighbouring sizes are averaged.
#include <gtest/gtest.h>

#include <string>

#include "machine/machine_files.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

constexpr std::int64_t tile = 1920;

struct Sum {
  double seconds = 0, to_devices = 0;
};
Sum over_neighbours(const char* workload, int tiles, int devices, const std::string& policy) {
  Sum sum;
  for (const int n : {tiles - 1, tiles, tiles + 1}) {
    const Program program = make_workload(workload, {n * tile, tile, Precision::single});
    const SimulatedMachine machine(machine::load_machine("v100-pcie"),
                                   {.devices = devices, .cores = 0, .device_memory = 2'000'000'000}, program,
                                   Precision::single);
    const SimulationResult result = simulate(program, machine, policy, {});
    sum.seconds += result.seconds;
    sum.to_devices += static_cast<double>(result.bytes_to_devices);
  }
  return sum;
}

struct Case {
  const char* workload;
  int tiles, devices;
};
class BlocksOnDevices : public testing::TestWithParam<Case> {};

TEST_P(BlocksOnDevices, TransfersLessThanHalfOfDartsAndIsFaster) {
  const auto [workload, tiles, devices] = GetParam();
  const Sum blocks = over_neighbours(workload, tiles, devices, "blocks");
  const Sum darts = over_neighbours(workload, tiles, devices, "darts");
  EXPECT_LT(blocks.to_devices, 0.5 * darts.to_devices);
  EXPECT_LT(blocks.seconds, 0.8 * darts.seconds);
}

INSTANTIATE_TEST_SUITE_P(Workloads, BlocksOnDevices,
                         testing::Values(Case{"cholesky", 57, 4}, Case{"cholesky", 57, 8}, Case{"lu", 43, 4},
                                         Case{"gemm", 40, 8}),
                         [](const auto& tested) {
                           return tested.param.workload + ("_on_" + std::to_string(tested.param.devices));
                         });

// 186 GB; 202 if sets are filled up with unrelated tiles.
TEST(BlocksOnOneDevice, EndsASetOfLuWithoutUnrelatedTiles) {
  double loaded = 0;
  for (const int n : {34, 36, 38}) {
    const Program program = make_workload("lu", {n * tile, tile, Precision::single});
    const SimulatedMachine machine(machine::load_machine("v100-pcie"),
                                   {.devices = 1, .cores = 0, .device_memory = 2'000'000'000}, program,
                                   Precision::single);
    loaded += static_cast<double>(simulate(program, machine, "blocks", {}).bytes_to_devices);
  }
  EXPECT_LT(loaded, 195e9);
}

}  // namespace
}  // namespace fairlead::simulate
