// What an idle worker leaves to others, by how long the tasks took that it ran last.
#include "backend/cpu/restraint.hpp"

#include <gtest/gtest.h>

namespace fairlead::backend {
namespace {

using namespace std::chrono_literals;

TEST(Restraint, StealsASingleTaskAtFirst) {
  const Restraint restraint;
  EXPECT_FALSE(restraint.some());
  EXPECT_EQ(restraint.least(), 1u);
}
TEST(Restraint, LeavesAFewOfTheTiniestTasksToTheirOwner) {
  Restraint restraint;
  restraint.ran(16, 16 * 100ns);
  EXPECT_TRUE(restraint.some());
  EXPECT_EQ(restraint.least(), 16u);
}
TEST(Restraint, StealsASingleTaskWhereOneTakesLongerThanATheft) {
  Restraint restraint;
  restraint.ran(16, 16 * 100ns);
  restraint.ran(2, 2 * 1us);
  EXPECT_EQ(restraint.least(), 1u);
  restraint.ran(1, 5ms);
  EXPECT_EQ(restraint.least(), 1u);
}
TEST(Restraint, EndsAfterAWhileUntilTheNextTinyTasks) {
  Restraint restraint;
  restraint.ran(1, 50ns);
  restraint.give_up();
  EXPECT_EQ(restraint.least(), 1u);
  restraint.ran(1, 50ns);
  EXPECT_EQ(restraint.least(), 16u);
}

}  // namespace
}  // namespace fairlead::backend
