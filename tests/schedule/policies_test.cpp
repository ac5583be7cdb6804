#include "schedule/policies.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

TEST(Policies, EveryOneInTheListCanBeMadeAndRunsATask) {
  for (const PolicyEntry& entry : policies()) {
    SCOPED_TRACE(entry.name);
    EXPECT_FALSE(entry.summary.empty());
    FakeWorld world;
    const auto policy = make_policy(entry.name);
    world.attach(*policy);
    policy->submitted(world.submit({"T", {"A"}}));
    policy->ready(world.task("T"), no_id<WorkerId>);
    EXPECT_EQ(world.pick(0, true), "T");
  }
}

TEST(Policies, AnUnknownNameIsAnsweredWithTheNearestOne) {
  try {
    make_policy("eagre");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr("unknown scheduler \"eagre\" (did you mean \"eager\"?); known: eager, lws"));
  }
}

}  // namespace fairlead::schedule
