// Full runs out of core: four workers, a disk, and kernels built with the sanitizers. A race or an invalid access ends the
// test; the results equal a factorization by one worker in core.
#include <gtest/gtest.h>

#include <vector>

#include "algorithms/linalg/world.hpp"
#include "sanitized.hpp"

namespace fairlead::linalg::testing {
namespace {

// 36 tiles of 32 KiB; of 20 KiB with a sanitizer, which checks each element access.
constexpr int tile_side = fairlead::tests::sanitized ? 48 : 64, side = 8 * tile_side;
constexpr Bytes naive_tile_bytes = (Bytes{tile_side} * tile_side * sizeof(double) + 4095) / 4096 * 4096;

struct Case {
  const char* scheduler;
  int tiles_in_memory;
};

std::vector<double> solution(const Setting& setting, Statistics* statistics = nullptr) {
  const Kernels naive = Kernels::load(FAIRLEAD_NAIVE_BLAS);
  Runtime runtime(config_of(setting));
  std::vector<double> x(side, 1.0);
  {
    const auto a = runtime.tiled<double>("A", side, side, tile_side, Tiles::lower);
    const auto b = runtime.tiled_in_place<double>("b", x.data(), side, 1, side, tile_side);
    Flow flow(runtime);
    fill<double>(flow, std::make_shared<GeneratedSpd<double>>(side, 7), a, Tiles::lower);
    solve(flow, naive, a, b);
    wait_for_results(flow);
    runtime.flush();
    if (statistics != nullptr) *statistics = runtime.statistics();
  }
  return x;
}

const std::vector<double>& in_core_by_one_worker() {
  static const std::vector<double> x = solution({.workers = 1});
  return x;
}

TEST(Sanitized, TheNaiveKernelsSolveTheSystem) {
  const auto a = dense<double>(GeneratedSpd<double>(side, 7));
  const Dense<double> x{side, 1, in_core_by_one_worker()};
  EXPECT_LT(solution_residual(a, x, Dense<double>{side, 1, std::vector<double>(side, 1.0)}), 30);
}

class SanitizedOutOfCore : public ::testing::TestWithParam<Case> {};

TEST_P(SanitizedOutOfCore, FourWorkersGiveTheSameBits) {
  const Bytes memory = static_cast<Bytes>(GetParam().tiles_in_memory) * naive_tile_bytes;
  Statistics statistics;
  EXPECT_TRUE(solution({.workers = 4, .memory = memory, .scheduler = GetParam().scheduler}, &statistics) ==
              in_core_by_one_worker());
  EXPECT_GT(statistics.nodes[0].evictions, 0u);
}

INSTANTIATE_TEST_SUITE_P(Policies, SanitizedOutOfCore,
                         ::testing::Values(Case{"lws", 6}, Case{"lws", 16}, Case{"darts", 6},
                                           Case{"darts", 16}, Case{"blocks", 6}, Case{"blocks", 16}),
                         [](const auto& it) {
                           return std::string(it.param.scheduler) + "In" +
                                  std::to_string(it.param.tiles_in_memory) + "Tiles";
                         });

}  // namespace
}  // namespace fairlead::linalg::testing
