// The record of submitted tasks that planners keep.
#include "schedule/index/task_graph_window.hpp"

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

struct LookaheadTest : testing::Test {
  WindowTask& submit(const Spec& spec) { return lookahead.submitted(world.submit(spec)); }
  Names finish(const std::string& name) {
    std::vector<WindowTask*> unlocked;
    lookahead.finished(world.task(name), unlocked);
    Names names;
    for (const WindowTask* ahead : unlocked) names.push_back(world.name_of(*ahead->task));
    return names;
  }
  FakeWorld world;
  TaskGraphWindow lookahead;
};

// X is updated three times, the second time with the output of W.
TEST_F(LookaheadTest, UpdatesOfATileAreAChainThatOtherInputsLock) {
  WindowTask& w = submit({"W", {}, 1, 0, {}, {"B"}});
  WindowTask& first = submit({"first", {"A"}, 1, 0, {"X"}});
  WindowTask& second = submit({"second", {"B"}, 1, 0, {"X"}});
  WindowTask& third = submit({"third", {"A"}, 1, 0, {"X"}});
  EXPECT_EQ(first.next, &second);
  EXPECT_EQ(third.previous, &second);
  EXPECT_TRUE(w.unlocked() && first.unlocked() && third.unlocked());
  EXPECT_FALSE(second.unlocked());
  EXPECT_EQ(lookahead.next_writer(world.datum("X")), &first);
  EXPECT_EQ(finish("W"), Names{"second"});
  EXPECT_EQ(finish("first"), Names{});
  EXPECT_EQ(lookahead.next_writer(world.datum("X")), &second);
  EXPECT_EQ(second.previous, nullptr);
}

TEST_F(LookaheadTest, AWriterWaitsForTheReadersBeforeIt) {
  submit({"R1", {"X"}});
  submit({"R2", {"X"}});
  WindowTask& writer = submit({"W", {}, 1, 0, {"X"}});
  WindowTask& reader = submit({"R3", {"X"}});
  EXPECT_EQ(writer.blockers, 2u);
  EXPECT_EQ(reader.blockers, 1u);
  EXPECT_EQ(finish("R2"), Names{});
  EXPECT_EQ(finish("R1"), Names{"W"});
  EXPECT_EQ(finish("W"), Names{"R3"});
}

// Finished predecessors count too: the depth does not depend on the time of submission.
TEST_F(LookaheadTest, TheDepthOfATaskIsTheLongestPathToIt) {
  EXPECT_EQ(submit({"W", {}, 1, 0, {}, {"A"}}).depth, 1u);
  finish("W");
  EXPECT_EQ(submit({"reader", {"A"}, 1, 0, {"X"}}).depth, 2u);
  EXPECT_EQ(submit({"next reader", {"A"}, 1, 0, {"Y"}}).depth, 2u);
  EXPECT_EQ(submit({"of both", {"X", "Y"}, 1, 0, {"Z"}}).depth, 3u);
  EXPECT_EQ(submit({"after all who read", {}, 1, 0, {}, {"A"}}).depth, 3u);
  EXPECT_EQ(submit({"of new data", {"N"}, 1, 0, {"M"}}).depth, 1u);
}

// Independent of the program before, which may have written some data more often than others, and was seen only in part.
TEST_F(LookaheadTest, AnotherProgramStartsAtDepthZero) {
  submit({"once", {}, 1, 0, {}, {"A"}});
  submit({"twice", {"A"}, 1, 0, {"B"}});
  EXPECT_EQ(submit({"and again", {}, 1, 0, {"B"}}).chain_index, 1u);
  lookahead.closed();
  for (const char* name : {"once", "twice", "and again"}) finish(name);
  for (const char* name : {"A", "B"}) {
    const WindowTask& ahead = submit({std::string("new ") + name, {}, 1, 0, {name}});
    EXPECT_EQ(ahead.chain_index, 0u) << name;
    EXPECT_EQ(ahead.depth, 1u) << name;
  }
}

// Tasks submitted before the end belong to the same program.
TEST_F(LookaheadTest, AContinuedProgramKeepsItsDepths) {
  submit({"first", {}, 1, 0, {"A"}});
  lookahead.closed();
  submit({"second", {}, 1, 0, {"A"}});
  finish("first");
  finish("second");
  EXPECT_EQ(submit({"third", {}, 1, 0, {"A"}}).chain_index, 2u);
}

// A policy may plan a task before its successors are submitted.
TEST_F(LookaheadTest, APlannedTaskIsPromisedToSuccessorsSubmittedLater) {
  WindowTask& w = submit({"W", {}, 1, 0, {"X"}});
  w.planned = true;
  WindowTask& reader = submit({"R", {"X"}});
  EXPECT_TRUE(reader.unlocked_by_plan());
  EXPECT_FALSE(reader.unlocked());
  EXPECT_EQ(finish("W"), Names{"R"});
  EXPECT_TRUE(reader.unlocked_by_plan());
  EXPECT_EQ(reader.planned_blockers, 0u);
}

TEST_F(LookaheadTest, FinishedReadersAreForgottenAndTheOthersStay) {
  for (int i = 0; i < 100; ++i) submit({"R" + std::to_string(i), {"X"}});
  WindowTask& writer = submit({"W", {}, 1, 0, {"X"}});
  submit({"late", {"X"}});
  for (int i = 0; i < 99; ++i) EXPECT_EQ(finish("R" + std::to_string(i)), Names{});
  Names left;
  lookahead.for_each_reader(world.datum("X"), [&](WindowTask& t) { left.push_back(world.name_of(*t.task)); });
  EXPECT_EQ(left, (Names{"R99", "late"}));
  EXPECT_EQ(writer.blockers, 1u);
  submit({"W2", {}, 1, 0, {"X"}});
  EXPECT_EQ(finish("R99"), Names{"W"});
  EXPECT_EQ(finish("W"), Names{"late"});
  EXPECT_EQ(finish("late"), Names{"W2"});
}

}  // namespace fairlead::schedule
