// Graphs made here: forks and joins, wavefronts, trees of fronts, two programs at once.
#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <algorithm>

#include "simulate/order_of.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

const WorkloadSize four_tiles{100, 30, Precision::single};  // four tiles a side, the last of 10

using Tasks = std::set<std::size_t>;

TEST(ForkJoin, RunsAPhaseAtOnceAndThenOneTask) {
  const Program program = make_workload("forkjoin:phases=2:width=3", four_tiles);
  const auto before = predecessors(program);
  ASSERT_EQ(before.size(), 8u);
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(before[t], Tasks{});
  EXPECT_EQ(before[3], (Tasks{0, 1, 2}));
  // Each also after the writer of its own tile, and after the reader of its result: task 3.
  for (std::size_t t = 4; t < 7; ++t) EXPECT_EQ(before[t], (Tasks{t - 4, 3}));
  EXPECT_EQ(before[7], (Tasks{4, 5, 6}));
}

TEST(ForkJoin, JoinsOnlyARowOfEachResult) {
  const Program program = make_workload("forkjoin", four_tiles);
  const auto results = static_cast<std::int16_t>(program.collections.size() - 1);
  EXPECT_EQ(program.collections[static_cast<std::size_t>(results)], "results");
  for (const ProgramDatum& datum : program.data)
    EXPECT_EQ(datum.bytes, datum.collection == results ? 30u * 4 : 30u * 30 * 4);
}

TEST(Wavefront, FollowsItsUpperAndItsLeftNeighbour) {
  const Program program = make_workload("wavefront:sweeps=2", {60, 30, Precision::single});
  const auto before = predecessors(program);
  ASSERT_EQ(before.size(), 8u);
  EXPECT_EQ(before[0], Tasks{});
  EXPECT_EQ(before[1], Tasks{0});
  EXPECT_EQ(before[2], Tasks{0});
  EXPECT_EQ(before[3], (Tasks{1, 2}));
  EXPECT_EQ(before[4], (Tasks{1, 2}));  // the next sweep: once both have read what it changes
  EXPECT_EQ(before[7], (Tasks{3, 5, 6}));
}

TEST(Tree, EliminatesEachFrontOnceAllOfItsChildrenAreIn) {
  const Program program = make_workload("tree:levels=3", {300, 30, Precision::double_});
  ASSERT_EQ(program.collections.size(), 7u);
  // A task's iteration is its front. Those of a front come after its children's.
  const auto before = predecessors(program);
  for (std::size_t t = 0; t < before.size(); ++t)
    for (const std::size_t one : before[t])
      EXPECT_LE(program.tasks[one].iteration, program.tasks[t].iteration);
  // Leaves: 0, 1, 3, 4; their parents 2 and 5; the root 6.
  const std::map<std::size_t, std::size_t> parents{{0, 2}, {1, 2}, {3, 5}, {2, 6}, {5, 6}};
  for (const auto& edge : parents) {
    bool is_read = false;
    program.for_each_task([&](const ProgramTask& task, std::span<const ProgramUse> uses) {
      for (const ProgramUse& use : uses) {
        const ProgramDatum& datum = program.data[static_cast<std::size_t>(use.datum)];
        is_read |= static_cast<std::size_t>(task.iteration) == edge.second && !writes(use.mode) &&
                   static_cast<std::size_t>(datum.collection) == edge.first;
      }
    });
    EXPECT_TRUE(is_read) << edge.first << " into " << edge.second;
  }
}

TEST(Tree, HasUnevenFrontsAndIsTheSameForTheSameSeed) {
  const auto bytes = [](const char* written) {
    const Program program = make_workload(written, {300, 30, Precision::double_});
    std::vector<Bytes> of_front(program.collections.size());
    for (const ProgramDatum& datum : program.data)
      of_front[static_cast<std::size_t>(datum.collection)] += datum.bytes;
    return of_front;
  };
  EXPECT_EQ(bytes("tree:seed=3"), bytes("tree:seed=3"));
  EXPECT_NE(bytes("tree:seed=3"), bytes("tree:seed=4"));
  const std::vector<Bytes> fronts = bytes("tree:levels=4");  // eight of them are leaves
  EXPECT_EQ(fronts.size(), 15u);
  EXPECT_GE(std::set<Bytes>(fronts.begin(), fronts.end()).size(), 12u);
}

TEST(Random, UnevenTasksAreTheSameGraphWithOtherWork) {
  const Program even = make_workload("random:seed=5", four_tiles),
                uneven = make_workload("random:seed=5:weights=uneven", four_tiles);
  EXPECT_EQ(predecessors(even), predecessors(uneven));
  ASSERT_EQ(even.tasks.size(), uneven.tasks.size());
  float least = 1, most = 1;
  for (std::size_t t = 0; t < even.tasks.size(); ++t) {
    const float times = uneven.tasks[t].flops / even.tasks[t].flops;
    least = std::min(least, times);
    most = std::max(most, times);
  }
  EXPECT_GE(least, 0.25f);
  EXPECT_LT(least, 0.4f);
  EXPECT_LE(most, 4.0f);
  EXPECT_GT(most, 2.5f);
}

TEST(Mixture, IsBothProgramsInTurnAndNothingBetweenThem) {
  const Program cholesky = make_workload("cholesky", four_tiles), qr = make_workload("qr", four_tiles),
                both = make_workload("mixture:first=cholesky:second=qr", four_tiles);
  EXPECT_EQ(both.tasks.size(), cholesky.tasks.size() + qr.tasks.size());
  EXPECT_EQ(both.bytes(), cholesky.bytes() + qr.bytes());
  EXPECT_NEAR(both.flops(), cholesky.flops() + qr.flops(), 1);
  const auto before = predecessors(both);
  // Whose task it is follows from the data that it uses: Cholesky's come first.
  std::vector<bool> first;
  both.for_each_task([&](const ProgramTask&, std::span<const ProgramUse> uses) {
    const auto own = [&](const ProgramUse& use) {
      return static_cast<std::size_t>(use.datum) < cholesky.data.size();
    };
    first.push_back(own(uses.front()));
    for (const ProgramUse& use : uses) EXPECT_EQ(own(use), first.back());
  });
  std::size_t edges = 0, edges_alone = 0;
  for (std::size_t t = 0; t < before.size(); ++t)
    for (const std::size_t one : before[t]) {
      EXPECT_EQ(first[one], first[t]);
      ++edges;
    }
  for (const Program* alone : {&cholesky, &qr})
    for (const auto& of_task : predecessors(*alone)) edges_alone += of_task.size();
  EXPECT_EQ(edges, edges_alone);
  const auto half = static_cast<std::ptrdiff_t>(both.tasks.size() / 2);
  EXPECT_NEAR(static_cast<double>(std::count(first.begin(), first.begin() + half, true)),
              static_cast<double>(cholesky.tasks.size()) / 2, 1.5);
}

TEST(Mixture, IsOfTwoThatThereAreAndNotOfItself) {
  EXPECT_THROW(make_workload("mixture:first=mixture", four_tiles), ConfigError);
  EXPECT_THROW(make_workload("mixture:second=cholesy", four_tiles), ConfigError);
}

}  // namespace
}  // namespace fairlead::simulate
