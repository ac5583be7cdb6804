// The steps of a pause: which tasks are recalled, that no other starts, and that all go on afterwards.
#include "engine/pause.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "engine/parts.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

struct PauseParts : EngineParts {
  explicit PauseParts(std::size_t workers) : EngineParts(workers, 32_MiB) {}
  Task& narrow() { return task(AccessMode::write, {datum(1_MiB)}); }
  Notes take_notes() { return std::exchange(world.notes, {}); }
  void begin() {
    pause.begin();
    go_on();
  }
  void end() {
    pause.end();
    go_on();
  }
};

TEST(Pause, IsCompleteAtOnceIfNothingRuns) {
  PauseParts it(2);
  EXPECT_FALSE(it.pause.is_complete());
  it.begin();
  EXPECT_TRUE(it.pause.is_complete());
  it.ready(it.narrow());
  EXPECT_EQ(it.take_notes(), Notes{});
  it.end();
  EXPECT_FALSE(it.pause.is_complete());
  EXPECT_EQ(it.take_notes(), (Notes{"launch 1 on 0"}));
}

TEST(Pause, WaitsForARunningTask) {
  PauseParts it(2);
  Task& runs = it.narrow();
  it.ready(runs);
  it.take_notes();
  it.begin();
  EXPECT_EQ(it.take_notes(), Notes{});  // a single task of a worker that takes tasks runs
  EXPECT_FALSE(it.pause.is_complete());
  it.over(runs);
  EXPECT_TRUE(it.pause.is_complete());
}

TEST(Pause, RecallsTasksThatHaveNotStarted) {
  PauseParts it(1);
  Task &runs = it.narrow(), &launched = it.narrow();
  it.ready({&runs, &launched});
  it.take_notes();
  it.begin();
  EXPECT_EQ(it.take_notes(), (Notes{"recall 2 on 0"}));
  it.over(runs);
  EXPECT_FALSE(it.pause.is_complete());
  it.dispatcher.returned(launched);
  it.go_on();
  EXPECT_TRUE(it.pause.is_complete());
  EXPECT_EQ(it.take_notes(), Notes{});
  it.end();
  EXPECT_EQ(it.take_notes(), (Notes{"launch 2 on 0"}));
}

// The worker started it meanwhile.
TEST(Pause, WaitsForATaskWhoseRecallIsRefused) {
  PauseParts it(1);
  Task &first = it.narrow(), &second = it.narrow();
  it.ready({&first, &second});
  it.begin();
  it.take_notes();
  it.over(first);
  it.pipelines.answered(WorkerId{0});
  it.go_on();
  EXPECT_FALSE(it.pause.is_complete());
  EXPECT_EQ(it.take_notes(), Notes{});  // not recalled again
  it.over(second);
  EXPECT_TRUE(it.pause.is_complete());
}

TEST(Pause, DoesNotEndWithATaskOfSeveralWorkers) {
  PauseParts it(3);
  Task& wide = it.narrow();
  wide.workers_wanted = 2;
  it.ready(wide);
  it.begin();
  it.take_notes();
  Task& next = it.narrow();
  it.over(wide);  // its workers are no longer reserved for it
  it.ready(next);
  EXPECT_TRUE(it.pause.is_complete());
  EXPECT_EQ(it.take_notes(), (Notes{"dissolved 0 1"}));
  it.end();
  EXPECT_EQ(it.take_notes().size(), 1u);
  for (const engine::Pipeline& pipeline : it.pipelines.all()) EXPECT_EQ(pipeline.aside, 0);
}

TEST(Pause, IsRequestedAndEndedOnce) {
  PauseParts it(2);
  it.begin();
  it.begin();
  it.end();
  it.end();
  for (const engine::Pipeline& pipeline : it.pipelines.all()) EXPECT_EQ(pipeline.aside, 0);
}

}  // namespace
}  // namespace fairlead::tests
