// In a what-if simulation, tasks keep the nodes assigned in the run, and no task is assigned during
// submission.
#include "front/what_if/resuming_policy.hpp"

#include <gtest/gtest.h>

#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::front {
namespace {

struct ResumingPolicyTest : testing::Test {
  void SetUp() override {
    world.played_by = &submitting;
    world.attach(policy);
    for (const char* name : {"T0", "T1", "T2", "T3"}) world.submit_ready({name, {name}});
  }
  void end_submission() {
    submitting.note_finished();
    policy.simulation_finished(0);
  }
  schedule::FakeWorld world{2};
  SubmissionPhase submitting;
  // T0 and T2 are assigned to the second node.
  ResumingPolicy policy{schedule::make_policy("eager"), [this](const Task& task) {
                          const std::string name = world.name_of(task);
                          return name == "T0" || name == "T2" ? schedule::node(1) : no_id<NodeId>;
                        }};
};

}  // namespace

TEST_F(ResumingPolicyTest, AssignsNothingDuringSubmission) {
  EXPECT_TRUE(submitting.is_running());
  EXPECT_TRUE(policy.awaits_simulation());
  EXPECT_EQ(world.pick(0), "-");
  EXPECT_EQ(world.pick(1), "-");
  end_submission();
  EXPECT_FALSE(policy.awaits_simulation());
  EXPECT_EQ(world.pick(0), "T1");
}

TEST_F(ResumingPolicyTest, PrefersTasksAssignedToTheNode) {
  end_submission();
  EXPECT_EQ(world.pick(1), "T0");
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "T3");
  EXPECT_EQ(world.pick(0), "-");
  EXPECT_EQ(world.pick(1), "T2");
}

TEST_F(ResumingPolicyTest, OtherNodesMayTakeTheLastTasks) {
  end_submission();
  EXPECT_EQ(world.take_any(0), "T0");
  EXPECT_EQ(world.pick(1), "T2");
  EXPECT_EQ(world.take_any(0), "T1");
}

}  // namespace fairlead::front
