// Old logs stay readable: the marks of roles do not change.
#include "engine/roles/roles.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fairlead {

TEST(TaskRoles, KeepTheirMarksInLogs) {
  EXPECT_EQ(traits_of(TaskRole::program).mark, 0);
  EXPECT_EQ(traits_of(TaskRole::fold).mark, 4);
  EXPECT_EQ(traits_of(TaskRole::hold).mark, 1);
  EXPECT_EQ(traits_of(TaskRole::view_switch).mark, 3);
  EXPECT_EQ(traits_of(TaskRole::sequence_point).mark, 2);
  EXPECT_EQ(traits_of(TaskRole::remote_access).mark, 5);
  std::set<int> marks;
  for (std::size_t i = 0; i < task_roles; ++i) marks.insert(traits_of(static_cast<TaskRole>(i)).mark);
  EXPECT_EQ(marks.size(), task_roles);
  EXPECT_LT(*marks.rbegin(), 8);
}

}  // namespace fairlead
