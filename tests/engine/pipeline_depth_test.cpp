// How many tasks workers are given ahead, by what tasks and copies take.
#include "engine/pipeline_depth.hpp"

#include <gtest/gtest.h>

namespace fairlead::engine {
namespace {

std::size_t after(std::size_t fixed, Duration task, int copies = 0, Duration copy = {}, int starved = 0,
                  std::size_t streams = 1) {
  PipelineDepth depth(fixed, streams);
  for (int i = 0; i < copies; ++i) depth.copy_over(copy);
  for (int i = 0; i < starved; ++i) depth.starved();
  for (int i = 0; i < 32; ++i) depth.task_over(task);
  return depth.depth();
}

}  // namespace

TEST(PipelineDepth, IsShortWhereNothingIsCopiedAndLongForTinyTasks) {
  EXPECT_EQ(after(0, Duration(1'000'000)), 2u);
  EXPECT_EQ(after(0, Duration(3'000)), 8u);
  EXPECT_EQ(after(0, Duration(500)), 24u);
}

TEST(PipelineDepth, CoversACopyByTasks) {
  EXPECT_EQ(after(0, Duration(1'000'000), 4, Duration(5'500'000)), 7u);  // 5 of them, and 2
  EXPECT_EQ(after(0, Duration(1'000'000), 4, Duration(100)), 4u);
  EXPECT_EQ(after(0, Duration(1'000'000), 4, Duration(90'000'000)), 16u);
}

TEST(PipelineDepth, GrowsWhenWorkersWereSeenWaitingForData) {
  EXPECT_EQ(after(0, Duration(1'000'000), 4, Duration(5'500'000), 3), 10u);
}

TEST(PipelineDepth, StreamsOfADeviceShareWhatOneMayHave) {
  const auto waiting_of = [](std::size_t streams) {
    return after(0, Duration(1'000'000), 4, Duration(90'000'000), 3, streams);
  };
  EXPECT_EQ(waiting_of(2), 8u);
  EXPECT_EQ(waiting_of(4), 4u);
  EXPECT_EQ(waiting_of(16), 4u);
  EXPECT_EQ(PipelineDepth(0, 4).depth(), 4u);
  EXPECT_EQ(after(6, Duration(1'000'000), 0, {}, 0, 4), 6u);  // where it was set
  EXPECT_EQ(after(0, Duration(500), 0, {}, 0, 4), 24u);       // handing over takes longer than the tasks
}

TEST(PipelineDepth, StaysWhereItWasSet) {
  EXPECT_EQ(after(5, Duration(500)), 5u);
  EXPECT_EQ(after(100, Duration(500)), PipelineDepth::largest);
  EXPECT_EQ(PipelineDepth(0).depth(), 8u);  // before anything is known
}

}  // namespace fairlead::engine
