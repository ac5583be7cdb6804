// "if for some external reason a task lags more than expected, the scheduler dynamically shifts the placement
// a bit to compensate the lag, which is actually a benefit over static allocation" (Augonnet, Clet-Ortega,
// Namyst, Thibault 2010, section V.B.1): the stencil of Figure 3(a) on Hannibal, while device 1 is four times
// slower.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "machine/machine_files.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

constexpr std::size_t blocks = 64, iterations = 64;
constexpr double from = 0.6;  // s: the start of the lag

/// The device that updated each block in an iteration, and the time.
struct Iteration {
  std::array<std::size_t, blocks> device{};
  double start = 1e9, end = 0;

  std::size_t blocks_on(std::size_t which) const {
    return static_cast<std::size_t>(std::ranges::count(device, which));
  }
};

struct Stencil {
  double seconds = 0;
  std::vector<Iteration> all{iterations};

  /// On the lagging device: in the last iteration before the lag, in the one in which it has the fewest after
  /// the lag has begun, and in the last one of the run.
  std::size_t before() const {
    return std::ranges::find_if(all, [](const Iteration& it) { return it.end > from; })[-1].blocks_on(1);
  }
  std::size_t fewest() const {
    std::size_t least = blocks;
    for (const Iteration& it : all)
      if (it.end > from) least = std::min(least, it.blocks_on(1));
    return least;
  }
  std::size_t at_the_end() const { return all.back().blocks_on(1); }
};

Stencil stencil(const std::string& policy, const std::string& slow) {
  const WorkloadSize size{.n = 4096, .tile = 64, .precision = Precision::single};
  const Program program = make_workload("stencil:iterations=64", size);
  const SimulatedMachine machine(machine::load_machine("hannibal"), {.cores = 0}, program, size.precision);
  SimulationOptions options;
  options.pipeline_depth = 1;
  options.keep_order = true;
  options.slow = slowdowns_in(slow);
  const SimulationResult result = simulate(program, machine, policy, options);
  Stencil stencil;
  stencil.seconds = result.seconds;
  std::vector<std::size_t> block_of;  // by task: of updates
  program.for_each_task([&](const ProgramTask&, std::span<const ProgramUse> uses) {
    block_of.push_back(
        static_cast<std::size_t>(program.data[static_cast<std::size_t>(uses.back().datum)].row));
  });
  for (const TaskRun& run : result.order) {
    const ProgramTask& task = program.tasks[run.task];
    if (program.kernels[static_cast<std::size_t>(task.kernel)] != "stencil") continue;
    Iteration& iteration = stencil.all[static_cast<std::size_t>(task.iteration)];
    iteration.device[block_of[run.task]] = index(run.worker);
    iteration.start = std::min(iteration.start, seconds(run.start));
    iteration.end = std::max(iteration.end, seconds(run.end));
  }
  return stencil;
}

const std::string lag = "gpu1:4:0.6-0.8", nothing = "gpu1:1";

class LaggingDevice : public testing::TestWithParam<std::string> {};

// About a third of the blocks is there, then a fifth, then a third again.
TEST_P(LaggingDevice, PassesBlocksOnAndGetsAsManyBackAfterwards) {
  const Stencil lagging = stencil(GetParam(), lag);
  EXPECT_GE(lagging.before(), 20u);
  EXPECT_LE(lagging.fewest(), 15u);
  EXPECT_GE(lagging.at_the_end(), 19u);
  const Stencil even = stencil(GetParam(), nothing);
  EXPECT_GE(even.fewest(), 17u);
  for (std::size_t i = 0; lagging.all[i].end < from; ++i)
    EXPECT_EQ(lagging.all[i].device, even.all[i].device) << i;
}

// The lost time does not grow with the lag, as it does if tasks stay.
TEST_P(LaggingDevice, LosesLessOfALongLagThanStatic) {
  const std::string longer = "gpu1:4:0.6-2.2";
  const double lost = stencil(GetParam(), longer).seconds - stencil(GetParam(), nothing).seconds;
  const double lost_by_static = stencil("static", longer).seconds - stencil("static", nothing).seconds;
  EXPECT_GT(lost_by_static, 1);
  EXPECT_LT(lost, 0.7 * lost_by_static);
}

INSTANTIATE_TEST_SUITE_P(Policies, LaggingDevice, testing::Values("heft-tmdp", "heft-tmdp-init"),
                         [](const auto& policy) {
                           return policy.param == "heft-tmdp" ? "tmdp" : "tmdp_init";
                         });

TEST(LaggingDeviceOfStatic, KeepsItsBlocks) {
  for (const Iteration& iteration : stencil("static", lag).all) EXPECT_EQ(iteration.blocks_on(1), 21u);
}

}  // namespace
}  // namespace fairlead::simulate
