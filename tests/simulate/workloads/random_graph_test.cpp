// Random graphs in layers.
#include <gmock/gmock.h>

#include "simulate/order_of.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

const WorkloadSize size{300, 30, Precision::single};

std::vector<std::string> text_of(const Program& program) {
  std::vector<std::string> tasks;
  program.for_each_task([&](const ProgramTask&, std::span<const ProgramUse> uses) {
    std::string task;
    for (const ProgramUse& use : uses)
      task += fmt::format("{}{} ", writes(use.mode) ? "w" : "r", static_cast<unsigned>(use.datum));
    tasks.push_back(task);
  });
  return tasks;
}

TEST(RandomGraph, IsTheSameForTheSameSeed) {
  EXPECT_EQ(text_of(make_workload("random:seed=7", size)), text_of(make_workload("random:seed=7", size)));
  EXPECT_NE(text_of(make_workload("random:seed=7", size)), text_of(make_workload("random:seed=8", size)));
}

// Also on every machine: the expected values are recorded.
TEST(RandomGraph, MatchesRecordedValues) {
  EXPECT_THAT(text_of(make_workload("random:layers=2:width=2:data=3", size)),
              testing::ElementsAre("r9 r10 w8 ", "r6 r3 w5 ", "r5 r7 w6 ", "r8 r9 w2 "));
}

TEST(RandomGraph, HasTasksInLayersThatFollowEachOther) {
  for (const char* written : {"random", "random:data=2", "random:data=9:writes=1", "random:width=1:writes=0",
                              "random:width=50:layers=4:data=6:writes=0.5"}) {
    SCOPED_TRACE(written);
    const Program program = make_workload(written, size);
    const auto before = predecessors(program);
    for (std::size_t t = 0; t < before.size(); ++t) {
      const std::int32_t layer = program.tasks[t].iteration;
      std::int32_t latest = -1;
      for (const std::size_t one : before[t]) latest = std::max(latest, program.tasks[one].iteration);
      ASSERT_EQ(latest, layer - 1);
    }
  }
}

TEST(RandomGraph, HasTheRequestedTasksDataAndWrites) {
  const Program program = make_workload("random:layers=40:width=25:data=6:writes=0.5", size);
  EXPECT_EQ(program.tasks.size(), 1000u);
  EXPECT_EQ(program.data.size(), 2u * 25 * 6);
  EXPECT_EQ(program.data[0].bytes, 30u * 30 * 4);
  EXPECT_NEAR(program.flops(), 1000.0 * 2 * 30 * 30 * 30, 1);
  int written = 0;
  program.for_each_task([&](const ProgramTask&, std::span<const ProgramUse> uses) {
    std::set<DatumIndex> data;
    int here = 0;
    for (const ProgramUse& use : uses) {
      data.insert(use.datum);
      here += writes(use.mode) ? 1 : 0;
    }
    EXPECT_EQ(data.size(), 6u);
    EXPECT_TRUE(here >= 1 && here <= 5);
    written += here;
  });
  EXPECT_NEAR(written / 6000.0, 0.5, 0.02);
}

}  // namespace
}  // namespace fairlead::simulate
