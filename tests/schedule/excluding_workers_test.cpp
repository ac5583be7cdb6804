// Some of the workers do all the work.
#include <fairlead/error.hpp>

#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

TEST(ExcludingWorkers, AnExcludedWorkerGetsNothing) {
  for (const char* name : {"without:workers=1:policy=dmdas", "without:workers=1:policy=blocks",
                           "without:workers=1:policy=lws", "without:workers=1:policy=static"}) {
    SCOPED_TRACE(name);
    FakeWorld world(2);
    const auto policy = make_policy(name);
    world.attach(*policy);
    for (int i = 0; i < 4; ++i)
      world.submit_ready({"T" + std::to_string(i), {"D" + std::to_string(i)}, 100, i});
    policy->horizon_closed();
    EXPECT_EQ(world.pick(1), "-");
    for (int i = 0; i < 4; ++i) EXPECT_NE(world.pick(0), "-");
    EXPECT_EQ(world.pick(0), "-");
  }
}

TEST(ExcludingWorkers, AnExcludedWorkerRunsTasksThatNoOtherWorkerCanRun) {
  FakeWorld world(1);
  const auto policy = make_policy("without:workers=0:policy=eager");
  world.attach(*policy);
  world.submit_ready({"T0", {"D0"}, 100});
  EXPECT_EQ(world.pick(0), "T0");
}

// Also after the task has been taken and returned; excluded workers never get tasks that others can run.
TEST(ExcludingWorkers, AnExcludedWorkerGetsNoOtherTasks) {
  for (const char* name : {"without:workers=0:policy=blocks", "without:workers=0:policy=eager"}) {
    SCOPED_TRACE(name);
    FakeWorld world(2);
    const auto policy = make_policy(name);
    world.attach(*policy);
    world.submit_ready({"T0", {"D0"}, 100});
    EXPECT_EQ(world.pick(0), "-");
    world.only_workers["T1"] = {0};
    world.submit_ready({"T1", {"D1"}, 100});
    EXPECT_EQ(world.pick(0), "T1");
    world.finish("T1", 0);
    EXPECT_EQ(world.pick(0), "-");
    EXPECT_EQ(world.pick(1), "T0");
  }
}

std::string refusal(const char* written) {
  try {
    make_policy(written);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ExcludingWorkers, RefusesInvalidWorkersAndPolicies) {
  EXPECT_EQ(refusal("without:workers=3+4:policy=darts"), "accepted");
  for (const char* wrong : {"without:workers=", "without:workers=a", "without:workers=3+",
                            "without:workers=3,4", "without:policy=without", "without:policy=darst"})
    EXPECT_NE(refusal(wrong), "accepted") << wrong;
}

}  // namespace
}  // namespace fairlead::schedule
