// The list of policies by name.
#include "schedule/policies.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <string>

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

TEST(Policies, EachCanBeMadeAndRunsATask) {
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

TEST(Policies, TheDefaultDependsOnMemoryAndWorkers) {
  EXPECT_EQ(default_policy({}), "lws");
  EXPECT_EQ(default_policy({.fits = false}), "what-if");
  EXPECT_EQ(default_policy({.devices = true, .several_ranks = true, .cores = 8}), "what-if");
  EXPECT_EQ(default_policy({.several_ranks = true, .cores = 3}), "near");
  EXPECT_EQ(default_policy({.several_ranks = true, .cores = 4}), "urgent");
  EXPECT_EQ(default_policy({.fits = false, .several_ranks = true, .cores = 4}), "near");
}

// Three nodes, some tasks for one worker only, some given back, data that come and go.
TEST(Policies, EachGivesOutAllTasksOnSeveralNodes) {
  for (const PolicyEntry& entry : policies())
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(std::string(entry.name) + ", seed " + std::to_string(seed));
      Random random(seed);
      FakeWorld world(3, 2);
      const auto policy = make_policy(entry.name);
      world.attach(*policy);
      for (int i = 0; i < 60; ++i) {
        const std::string name = "T" + std::to_string(i);
        const auto datum = [&] { return "D" + std::to_string(random.below(4)); };
        if (random.once_in(3)) world.only_workers[name] = {static_cast<unsigned>(random.below(6))};
        Task& task = world.submit(
            {name, {datum(), "E" + datum()}, 1, static_cast<int>(random.below(3)), {"X" + name}});
        policy->submitted(task);
        task.state = TaskState::ready;
        policy->ready(task, i % 2 == 0 ? no_id<WorkerId> : worker(static_cast<unsigned>(random.below(6))));
      }
      int done = 0;
      for (int idle = 0; idle < 12;) {
        const auto by = static_cast<unsigned>(random.below(6));
        const std::string name = world.pick(by, idle >= 6);
        if (name == "-") {
          ++idle;
          continue;
        }
        idle = 0;
        if (random.once_in(5)) {
          world.give_back(name);
          continue;
        }
        ASSERT_TRUE(world.can_run(world.task(name), worker(by)));
        world.admit(name);
        world.finish(name, by);
        if (random.once_in(2)) {
          const std::string gone = "D" + std::to_string(random.below(4));
          if (world.residency(world.datum(gone), node(by / 2)) != ReplicaState::absent)
            world.drop(gone, node(by / 2));
        }
        ++done;
      }
      // The remaining tasks are for workers that were not called.
      for (unsigned by = 0; by < 6; ++by)
        for (std::string name = world.pick(by, true); name != "-"; name = world.pick(by, true)) {
          world.admit(name);
          world.finish(name, by);
          ++done;
        }
      EXPECT_EQ(done, 60);
    }
}

TEST(Policies, AFormerNameIsAcceptedWithANote) {
  EXPECT_EQ(name_in("rehearsed:first=near"), "what-if");
  EXPECT_NE(make_policy("rehearsed"), nullptr);
  EXPECT_NE(make_policy("rehearsed:first=near:off=darts"), nullptr);
  EXPECT_THROW(make_policy("rehearsed:frist=near"), ConfigError);
  EXPECT_EQ(renaming_note("rehearsed:first=near"),
            "the scheduler rehearsed is now called what-if; the old name will be removed after 0.1");
  for (const char* today : {"what-if", "what-if:first=near", "lws", "auto", "rehears"})
    EXPECT_EQ(renaming_note(today), "") << today;
}

TEST(Policies, AnUnknownNameIsRefusedWithTheNearestName) {
  try {
    make_policy("eagre");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("unknown scheduler \"eagre\" (did you mean eager?); known: eager, lws"));
  }
}

}  // namespace fairlead::schedule
