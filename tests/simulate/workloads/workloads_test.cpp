// The graphs that come with the simulator.
#include "simulate/workload.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>

#include <string>

#include "simulate/order_of.hpp"

namespace fairlead::simulate {
namespace {

std::string refusal(std::string_view written, const WorkloadSize& size) {
  try {
    make_workload(written, size);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Workloads, EveryOneMakesTasksThatUseItsData) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    const Program program = make_workload(workload.name, {100, 30, Precision::single});
    EXPECT_FALSE(program.title.empty());
    EXPECT_FALSE(program.tasks.empty());
    EXPECT_GT(program.flops(), 0);
    std::vector<bool> has_value, written;
    for (const ProgramDatum& datum : program.data) has_value.push_back(datum.has_value);
    program.for_each_task([&](const ProgramTask& task, std::span<const ProgramUse> uses) {
      EXPECT_LT(static_cast<std::size_t>(task.kernel), program.kernels.size());
      EXPECT_FALSE(uses.empty());
      for (const ProgramUse& use : uses) {
        ASSERT_LT(static_cast<std::size_t>(use.datum), program.data.size());
        if (reads(use.mode)) {
          EXPECT_TRUE(has_value[static_cast<std::size_t>(use.datum)]);
        }
        if (writes(use.mode)) has_value[static_cast<std::size_t>(use.datum)] = true;
      }
    });
  }
}

// A task is less urgent than its predecessors.
TEST(Workloads, EveryOneHasPrioritiesThatFallAlongItsOrder) {
  for (const Workload& workload : workloads()) {
    if (workload.name == "gemm") continue;  // has none
    SCOPED_TRACE(workload.name);
    const Program program = make_workload(workload.name, {100, 30, Precision::single});
    const auto before = predecessors(program);
    for (std::size_t t = 0; t < before.size(); ++t)
      for (const std::size_t one : before[t])
        EXPECT_GT(program.tasks[one].priority, program.tasks[t].priority);
  }
}

// 4 x 4 tiles, the last of 10 of 30.
TEST(Workloads, CholeskyHasTheTasksAndFlopsOfTheFactorization) {
  const Program program = make_workload("cholesky", {100, 30, Precision::double_});
  EXPECT_EQ(program.tiles, 4);
  EXPECT_EQ(program.data.size(), 10u);
  EXPECT_EQ(counts(program),
            (std::map<std::string, int>{{"potrf", 4}, {"trsm", 6}, {"syrk", 6}, {"gemm", 4}}));
  EXPECT_EQ(program.tasks.size(), linalg::cholesky_tasks(4));
  EXPECT_NEAR(program.flops(), 100.0 * 100 * 100 / 3, 0.02 * 100 * 100 * 100 / 3);
  EXPECT_EQ(program.data[0].bytes, 30u * 30 * 8);
  EXPECT_EQ(program.data[9].bytes, 10u * 10 * 8);
}

TEST(Workloads, LuAndGemmHaveTheirFlops) {
  const Program lu = make_workload("lu", {100, 30, Precision::single});
  EXPECT_EQ(lu.tasks.size(), linalg::lu_tasks(4));
  EXPECT_NEAR(lu.flops(), 2.0 * 100 * 100 * 100 / 3, 0.02 * 2 * 100 * 100 * 100 / 3);
  const Program gemm = make_workload("gemm", {100, 30, Precision::single});
  EXPECT_EQ(gemm.tasks.size(), 64u);
  EXPECT_NEAR(gemm.flops(), 2.0 * 100 * 100 * 100, 1);
  EXPECT_EQ(gemm.bytes(), 3u * 100 * 100 * 4);
}

TEST(Workloads, AreRefusedWithTheReason) {
  EXPECT_THAT(refusal("cholesy", {100, 30}), testing::HasSubstr("did you mean cholesky?"));
  EXPECT_EQ(refusal("lu:tree=flat", {100, 30}), "the workload lu has no options, but is given \"tree=flat\"");
  EXPECT_THAT(refusal("qr:tree=greedy", {100, 30}), testing::HasSubstr("must be one of flat, binary"));
  EXPECT_THAT(refusal("qr:ib=31", {100, 30}), testing::HasSubstr("a whole number from 1 to 30"));
  EXPECT_EQ(refusal("gemm", {0, 30}), "gemm: n and tile must be from 1 to 1000000000, not 0 and 30");
  EXPECT_THAT(refusal("gemm", {1'000'000, 1}),
              testing::HasSubstr("1000000 of them a side; there may be 4096"));
}

}  // namespace
}  // namespace fairlead::simulate
