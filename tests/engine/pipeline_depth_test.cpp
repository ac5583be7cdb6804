// The depth of pipelines as a function of the durations of tasks and copies.
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

TEST(PipelineDepth, IsSmallWithoutCopiesAndLargeForTinyTasks) {
  EXPECT_EQ(after(0, Duration(1'000'000)), 2u);
  EXPECT_EQ(after(0, Duration(3'000)), 8u);
  EXPECT_EQ(after(0, Duration(500)), 24u);
}

TEST(PipelineDepth, CoversTheDurationOfACopy) {
  EXPECT_EQ(after(0, Duration(1'000'000), 4, Duration(5'500'000)), 7u);  // 5 tasks, and 2 more
  EXPECT_EQ(after(0, Duration(1'000'000), 4, Duration(100)), 4u);
  EXPECT_EQ(after(0, Duration(1'000'000), 4, Duration(90'000'000)), 16u);
}

TEST(PipelineDepth, GrowsWhenWorkersHaveWaitedForData) {
  EXPECT_EQ(after(0, Duration(1'000'000), 4, Duration(5'500'000), 3), 10u);
}

TEST(PipelineDepth, IsSharedByTheStreamsOfADevice) {
  const auto waiting_of = [](std::size_t streams) {
    return after(0, Duration(1'000'000), 4, Duration(90'000'000), 3, streams);
  };
  EXPECT_EQ(waiting_of(2), 8u);
  EXPECT_EQ(waiting_of(4), 4u);
  EXPECT_EQ(waiting_of(16), 4u);
  EXPECT_EQ(PipelineDepth(0, 4).depth(), 4u);
  EXPECT_EQ(after(6, Duration(1'000'000), 0, {}, 0, 4), 6u);  // as configured
  EXPECT_EQ(after(0, Duration(500), 0, {}, 0, 4), 24u);       // passing tasks takes longer than running them
}

TEST(PipelineDepth, StaysAsConfigured) {
  EXPECT_EQ(after(5, Duration(500)), 5u);
  EXPECT_EQ(after(100, Duration(500)), PipelineDepth::largest);
  EXPECT_EQ(PipelineDepth(0).depth(), 8u);  // before the first estimate
}

}  // namespace fairlead::engine
