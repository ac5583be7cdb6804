// Tasks that no worker runs: each is in one list, and waiting tasks are tried oldest first.
#include "engine/pseudo_tasks.hpp"

#include <gtest/gtest.h>

#include <array>

namespace fairlead::engine {

TEST(PseudoTasks, AreTriedOldestFirst) {
  std::array<Task, 3> tasks;
  PseudoTasks pseudo;
  for (Task& task : tasks) pseudo.wait(task);
  std::vector<Task*> asked;
  const bool some = pseudo.wait_no_more([&](Task& task) {
    asked.push_back(&task);
    return &task == &tasks[1];
  });
  EXPECT_TRUE(some);
  EXPECT_EQ(asked, (std::vector{&tasks[0], &tasks[1], &tasks[2]}));
  EXPECT_EQ(std::vector(pseudo.waiting().begin(), pseudo.waiting().end()),
            (std::vector{&tasks[0], &tasks[2]}));
  EXPECT_FALSE(pseudo.wait_no_more([](Task&) { return false; }));
}

TEST(PseudoTasks, AreRemovedWhenTheyHaveFinished) {
  Task task;
  PseudoTasks pseudo;
  pseudo.wait(task);
  pseudo.wait_no_more([&](Task& waiting) {
    pseudo.arrive(waiting);
    return true;
  });
  EXPECT_TRUE(pseudo.waiting().empty());
  EXPECT_EQ(pseudo.arriving().size(), 1u);
  pseudo.arrived(task);
  EXPECT_TRUE(pseudo.none());
  pseudo.grant(task);
  EXPECT_EQ(task.state, TaskState::staged);
  EXPECT_EQ(pseudo.granted().size(), 1u);
  EXPECT_FALSE(pseudo.none());
  pseudo.release(task);
  EXPECT_TRUE(pseudo.none());
}

}  // namespace fairlead::engine
