// The stencil and the game of life.
#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include "simulate/order_of.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

using Order = std::map<std::string, std::set<std::string>>;

// The size of StarPU's paper: 256 x 256 x 4096 in 64 blocks.
TEST(Stencil, UpdatesEveryBlockAndSavesItsTwoBordersBefore) {
  const Program program = make_workload("stencil:iterations=3", {4096, 64, Precision::single});
  EXPECT_EQ(counts(program), (std::map<std::string, int>{{"stencil", 3 * 64}, {"save_border", 3 * 2 * 64}}));
  EXPECT_EQ(program.tiles, 64);
  EXPECT_EQ(program.data.size(), 3u * 64);
  EXPECT_EQ(program.data[0].bytes, 2u * 66 * 256 * 256 * 4);
  EXPECT_EQ(program.data[1].bytes, 256u * 256 * 4);
  const double cells = 256.0 * 256 * 4096, saved = 2.0 * 64 * 256 * 256;
  EXPECT_NEAR(program.flops(), 3 * (8 * cells + saved), 1);
}

// A wider border: fewer tasks that exchange less often, and planes that two blocks compute both. Here 10
// steps as 4 + 4 + 2 on blocks of 6, 6 and 4 planes of one cell: s steps of p planes compute s p + s (s - 1).
TEST(Stencil, DoesSeveralStepsAtOnceWithAWiderBorder) {
  const Program program =
      make_workload("stencil:border=4:iterations=10:width=1:height=1:flops=1", {16, 6, Precision::double_});
  EXPECT_EQ(counts(program), (std::map<std::string, int>{{"stencil", 9}, {"save_border", 18}}));
  EXPECT_EQ(program.flops(), 18 * 4 + 2 * (4 * 16 + 3 * 4 * 3) + (2 * 16 + 3 * 2 * 1));
  try {
    make_workload("stencil:border=5", {16, 6, Precision::double_});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "the option border of the workload stencil is 5, but the last block has 4 planes");
  }
}

// Three blocks in a ring, two iterations. A border is saved again when its readers have finished.
TEST(Stencil, WaitsForTheNeighboursBorders) {
  const Order order =
      order_of(make_workload("stencil:iterations=2:width=1:height=1", {12, 4, Precision::double_}));
  EXPECT_EQ(order.size(), 18u);
  EXPECT_EQ(order.at("save_border tops0,0"), std::set<std::string>{});
  EXPECT_EQ(order.at("stencil blocks1,0"),
            (std::set<std::string>{"save_border tops0,0", "save_border bottoms2,0", "save_border tops1,0",
                                   "save_border bottoms1,0"}));
  EXPECT_EQ(order.at("stencil blocks0,0"),  // below it is the last block
            (std::set<std::string>{"save_border tops2,0", "save_border bottoms1,0", "save_border tops0,0",
                                   "save_border bottoms0,0"}));
  EXPECT_EQ(order.at("save_border tops0,0'"),
            (std::set<std::string>{"stencil blocks0,0", "stencil blocks1,0"}));
  EXPECT_EQ(order.at("stencil blocks1,0'"),
            (std::set<std::string>{"save_border tops0,0'", "save_border bottoms2,0'", "save_border tops1,0'",
                                   "save_border bottoms1,0'"}));
}

TEST(Stencil, PrefersTheTasksOfEarlierIterations) {
  const Program program = make_workload("stencil:iterations=2", {12, 4, Precision::double_});
  EXPECT_EQ(program.tasks.front().priority, 4);  // save, update, save, update
  EXPECT_EQ(program.tasks.back().priority, 1);
}

TEST(Life, HasOneTypeOfTask) {
  const Program program = make_workload("life", {1024, 16, Precision::single});
  EXPECT_EQ(counts(program), (std::map<std::string, int>{{"life", 32 * 64}}));
  EXPECT_NEAR(program.flops() / (32.0 * 8 * 1024 * 1024 * 1024), 1, 1e-6);
  EXPECT_EQ(program.bytes(), 2u * 64 * (18 + 2) * 1024 * 1024);  // two layers: room and borders
  EXPECT_TRUE(program.cpu_only.empty());
  EXPECT_EQ(make_workload("life:exchange=blocks", {1024, 16, Precision::single}).bytes(),
            2u * 1024 * 1024 * 1024);
}

// Four blocks in a ring: each waits for itself and its neighbours, one iteration before, whatever they
// exchange.
TEST(Life, WaitsForTheNeighboursOfTheIterationBefore) {
  for (const char* written : {"life:iterations=3", "life:iterations=3:exchange=blocks"}) {
    SCOPED_TRACE(written);
    const auto before = predecessors(make_workload(written, {4, 1, Precision::single}));
    ASSERT_EQ(before.size(), 12u);
    EXPECT_EQ(before[2], std::set<std::size_t>{});
    EXPECT_EQ(before[4], (std::set<std::size_t>{3, 0, 1}));
    EXPECT_EQ(before[6], (std::set<std::size_t>{1, 2, 3}));
    EXPECT_EQ(before[11], (std::set<std::size_t>{6, 7, 4}));
  }
}

// The second task of the ring: its block, the top below and the bottom above.
TEST(Life, ReadsThePlanesThatTouchItsBlock) {
  const Program program = make_workload("life", {4, 1, Precision::single});
  std::vector<std::string> read;
  for (const ProgramUse& use : std::span(program.uses).subspan(program.tasks[0].uses, program.tasks[1].uses))
    if (!writes(use.mode)) read.push_back(name_of(program, use.datum));
  EXPECT_THAT(read, testing::UnorderedElementsAre("blocks1,0", "tops0,0", "bottoms2,0"));
}

TEST(Life, HasNoDatumTwiceInATaskWhenBlocksAreFew) {
  for (const std::int64_t blocks : {1, 2, 3})
    for (const char* written : {"life:exchange=blocks", "life:exchange=planes", "stencil"}) {
      const Program program = make_workload(written, {blocks * 2, 2, Precision::single});
      program.for_each_task([&](const ProgramTask&, std::span<const ProgramUse> uses) {
        std::set<DatumIndex> data;
        for (const ProgramUse& use : uses) EXPECT_TRUE(data.insert(use.datum).second) << written << blocks;
      });
    }
}

}  // namespace
}  // namespace fairlead::simulate
