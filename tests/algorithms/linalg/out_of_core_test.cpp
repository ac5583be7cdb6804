// Results out of core equal those in core bit for bit, for any policy, memory and number of workers.
#include <gtest/gtest.h>

#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"

namespace fairlead::linalg::testing {
namespace {

class OutOfCore : public ::testing::TestWithParam<const char*> {};

TEST_P(OutOfCore, GivesTheSameBitsAsInCore) {
  const int n = 520, tile = 48;  // 11 x 11 tiles, the last of 40
  const auto a = std::make_shared<GeneratedSpd<double>>(n, 11);
  const auto in_core = factor<double>(a, tile, {});
  const Bytes tile_bytes = (tile * tile * sizeof(double) + 4095) / 4096 * 4096;
  std::size_t turn = 0;
  for (const std::size_t workers : {1, 2, 4})
    for (const Bytes tiles : {3, 4, 7, 16, 40, 66}) {
      if (tests::left_out(turn++, 5)) continue;
      Bytes bytes_read = 0;
      const auto out_of_core = factor<double>(
          a, tile, {.workers = workers, .memory = tiles * tile_bytes + 4096, .scheduler = GetParam()},
          &bytes_read);
      EXPECT_TRUE(out_of_core == in_core) << workers << " workers, memory of " << tiles << " tiles";
      // With room for 40 tiles an order exists that reads none twice: by columns, each of which needs at most 35.
      if (tiles == 40) continue;
      EXPECT_EQ(bytes_read > 0, tiles < 66) << tiles;
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, OutOfCore, ::testing::Values("eager", "lws", "darts", "blocks"),
                         [](const auto& policy) { return policy.param; });

class OnDevices : public ::testing::TestWithParam<const char*> {};

// Cores and emulated accelerators together, with RAM and disk: none of the memories holds the matrix.
TEST_P(OnDevices, GivesTheSameBitsAsOnCores) {
  const int n = 520, tile = 48;  // 11 x 11 tiles of 20 KiB
  const auto a = std::make_shared<GeneratedSpd<double>>(n, 11);
  const auto in_core = factor<double>(a, tile, {});
  std::size_t turn = 0;
  for (const char* devices :
       {"emulated:memory=400KiB", "emulated:memory=100KiB,copies=blocking,workers=2",
        "emulated:memory=200KiB + emulated:memory=400KiB,copies=blocking",
        "emulated:memory=60KiB,peers=20GB/s + emulated:memory=2MiB,peers=20GB/s + emulated:memory=200KiB"})
    for (const Bytes memory : {Bytes{300} << 10, plenty}) {
      if (tests::left_out(turn++, 3)) continue;
      EXPECT_TRUE(
          factor<double>(a, tile,
                         {.workers = 1, .memory = memory, .scheduler = GetParam(), .devices = devices}) ==
          in_core)
          << devices << ", memory of " << memory;
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, OnDevices,
                         ::testing::Values("eager", "lws", "dmda", "dmdas", "darts", "blocks"),
                         [](const auto& policy) { return policy.param; });

TEST(OutOfCoreSingle, GivesTheSameBitsAsInCore) {
  const auto a = std::make_shared<GeneratedSpd<float>>(333, 11);
  const auto in_core = factor<float>(a, 32, {});
  EXPECT_TRUE(factor<float>(a, 32, {.memory = 65536, .scheduler = "darts"}) == in_core);
}

// A task's three tiles do not fit: rejected on submission instead of waiting forever.
TEST(OutOfCoreLimits, ATaskThatCanNeverFitIsRejected) {
  const auto a = std::make_shared<GeneratedSpd<double>>(520, 11);
  EXPECT_THROW(factor<double>(a, 96, {.memory = 2 * 96 * 96 * 8}), FootprintError);
}

}  // namespace
}  // namespace fairlead::linalg::testing
