// The number of tasks that an idle worker leaves to their owner, by the duration of its last tasks.
#include "backend/cpu/steal_threshold.hpp"

#include <gtest/gtest.h>

namespace fairlead::backend {
namespace {

using namespace std::chrono_literals;

TEST(StealThreshold, StealsASingleTaskAtFirst) {
  const StealThreshold restraint;
  EXPECT_FALSE(restraint.is_active());
  EXPECT_EQ(restraint.minimum(), 1u);
}
TEST(StealThreshold, LeavesAFewTinyTasksToTheirOwner) {
  StealThreshold restraint;
  restraint.ran(16, 16 * 100ns);
  EXPECT_TRUE(restraint.is_active());
  EXPECT_EQ(restraint.minimum(), 16u);
}
TEST(StealThreshold, StealsASingleTaskIfItTakesLongerThanStealing) {
  StealThreshold restraint;
  restraint.ran(16, 16 * 100ns);
  restraint.ran(2, 2 * 1us);
  EXPECT_EQ(restraint.minimum(), 1u);
  restraint.ran(1, 5ms);
  EXPECT_EQ(restraint.minimum(), 1u);
}
TEST(StealThreshold, ExpiresUntilTheNextTinyTasks) {
  StealThreshold restraint;
  restraint.ran(1, 50ns);
  restraint.reset();
  EXPECT_EQ(restraint.minimum(), 1u);
  restraint.ran(1, 50ns);
  EXPECT_EQ(restraint.minimum(), 16u);
}

}  // namespace
}  // namespace fairlead::backend
