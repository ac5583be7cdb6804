// LFQ by hand: placeholder, both ends of the queue, and the order of victims.
#include "schedule/lfq.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {

// Workers 0 and 1 share a node, 2 and 3 another.
struct LfqTest : testing::Test {
  std::unique_ptr<Policy> lfq;
  FakeWorld world{2, 2};

  void begin(const std::string& placeholder) {
    lfq = make_policy("lfq:placeholder=" + placeholder);
    world.attach(*lfq);
  }
  /// A task of worker 0 enables a, b, c and d, in this order.
  void enable_four() {
    world.ready({"a", {}, 1, 5}, worker(0));
    world.ready({"b", {}, 1, 3}, worker(0));
    world.ready({"c", {}, 1, 9}, worker(0));
    world.ready({"d", {}, 1, 1}, worker(0));
  }
  Names rest_of(unsigned by) {
    Names out;
    for (std::string name = world.pick(by); name != "-"; name = world.pick(by)) out.push_back(name);
    return out;
  }
};

// Placeholder a; queue c b d. Worker 0 takes a, although c is more urgent; worker 1 steals the back, d.
TEST_F(LfqTest, ThePlaceholderComesFirstAndOthersStealTheBackOfTheQueue) {
  begin("1");
  enable_four();
  EXPECT_EQ(world.pick(0), "a");
  EXPECT_EQ(world.pick(1), "d");
  EXPECT_EQ(world.pick(2), "b");
  EXPECT_EQ(world.pick(0), "c");
}
TEST_F(LfqTest, ThePlaceholderHoldsOneTaskByDefault) {
  lfq = make_policy("lfq");
  world.attach(*lfq);
  enable_four();
  EXPECT_EQ(rest_of(0), (Names{"a", "c", "b", "d"}));
}

// Queue c a b d.
TEST_F(LfqTest, WithoutPlaceholderTheMostUrgentComesFirstAndAllCanBeStolen) {
  begin("0");
  enable_four();
  EXPECT_EQ(world.pick(0), "c");
  EXPECT_EQ(world.pick(1), "d");
  EXPECT_EQ(world.pick(2), "b");
  EXPECT_EQ(world.pick(0), "a");
}
TEST_F(LfqTest, TheOrderWithoutPlaceholder) {
  begin("0");
  enable_four();
  EXPECT_EQ(rest_of(0), (Names{"c", "a", "b", "d"}));
}

TEST_F(LfqTest, TasksInALargePlaceholderAreNotStolen) {
  begin("4");
  enable_four();
  EXPECT_EQ(world.pick(0), "a");
  EXPECT_EQ(world.pick(1), "-");
  EXPECT_EQ(world.pick(2), "-");
  EXPECT_EQ(rest_of(0), (Names{"b", "c", "d"}));
}

// If nothing runs, a worker gets any task.
TEST_F(LfqTest, AnyWorkerGetsPlaceholderTasksIfNothingRuns) {
  begin("4");
  enable_four();
  EXPECT_EQ(world.pick(1, true), "-");
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_EQ(world.name_of(*lfq->take_any(worker(1))), name);
  EXPECT_EQ(lfq->take_any(worker(1)), nullptr);
}

// An equally urgent task goes before those that wait; a place that is free again is used again.
TEST_F(LfqTest, EqualPrioritiesAreLastInFirstOut) {
  begin("1");
  for (const char* name : {"T1", "T2", "T3", "T4"}) world.ready({name, {}}, worker(0));
  EXPECT_EQ(world.pick(0), "T1");
  world.ready({"T5", {}}, worker(0));
  EXPECT_EQ(rest_of(0), (Names{"T5", "T4", "T3", "T2"}));
}

TEST_F(LfqTest, TasksWithoutAReleaserGoToTheQueueOfTheFirstWorker) {
  begin("1");
  world.ready({"e", {}});  // not to its placeholder: it can be stolen
  EXPECT_EQ(world.pick(3), "e");
  world.only_workers["f"] = {1, 2};
  world.ready({"e2", {}});
  world.ready({"f", {}});  // the first worker that can run it is 1
  EXPECT_EQ(rest_of(1), (Names{"f", "e2"}));
}

// Worker 2's own neighbour, 3, comes before 0 and 1, which are equally far.
TEST_F(LfqTest, VictimsAreOrderedByDistanceThenByNumber) {
  begin("0");
  world.ready({"of 0", {}}, worker(0));
  world.ready({"of 1", {}}, worker(1));
  world.ready({"of 3", {}}, worker(3));
  EXPECT_EQ(rest_of(2), (Names{"of 3", "of 0", "of 1"}));
}

// Two packages of four cores, two of which share a cache each: first the core that shares the cache, then the others of
// the package, then the other package, then the other memory node.
TEST(Lfq, VictimsAreOrderedBySharedCache) {
  FakeWorld world(2, 8);
  world.apart = [](unsigned a, unsigned b) { return a / 2 == b / 2 ? 0u : a / 4 == b / 4 ? 1u : 2u; };
  const auto lfq = make_policy("lfq:placeholder=0");
  world.attach(*lfq);
  for (const unsigned by : {15u, 8u, 7u, 6u, 5u, 4u, 3u, 2u, 1u, 0u})
    world.ready({std::to_string(by), {}}, worker(by));
  Names of_six;
  for (std::string name = world.pick(6); name != "-"; name = world.pick(6)) of_six.push_back(name);
  EXPECT_EQ(of_six, (Names{"6", "7", "4", "5", "0", "1", "2", "3", "8", "15"}));
}

// A task that the releaser cannot run goes to the core that shares its cache.
TEST(Lfq, AReleasedTaskGoesToTheNearestCoreThatCanRunIt) {
  FakeWorld world(1, 4);
  world.apart = [](unsigned a, unsigned b) { return a / 2 == b / 2 ? 0u : 1u; };
  world.only_workers["T"] = {0, 2};
  const auto lfq = make_policy("lfq");
  world.attach(*lfq);
  world.ready({"T", {"A"}}, worker(3));
  EXPECT_EQ(world.upcoming(2, 1), Names{"A"});
}

// Worker 3 skips, from the back, tasks that it cannot run.
TEST_F(LfqTest, AThiefTakesTheLastTaskThatItCanRun) {
  begin("0");
  world.only_workers["T2"] = {0};
  world.only_workers["T3"] = {0, 1};
  for (int i = 1; i <= 3; ++i) world.ready({"T" + std::to_string(i), {}, 1, -i}, worker(0));
  EXPECT_EQ(world.pick(1), "T3");
  EXPECT_EQ(world.pick(3), "T1");
  EXPECT_EQ(world.pick(3), "-");
  EXPECT_EQ(world.pick(0), "T2");
}

// Worker 3 enables a task that only 0 and 2 can run: 2 is nearer.
TEST_F(LfqTest, ATaskThatItsReleaserCannotRunGoesToTheNearestWorkerThatCan) {
  begin("1");
  world.only_workers["T"] = {0, 2};
  world.ready({"T", {"A"}}, worker(3));
  EXPECT_EQ(world.upcoming(2, 1), Names{"A"});
  EXPECT_EQ(world.pick(2), "T");
}

TEST_F(LfqTest, OtherWorkersGetTheTasksOfALostWorker) {
  begin("1");
  world.only_workers["c"] = {0, 3};
  enable_four();  // a in the placeholder, then c b d
  lfq->worker_lost(worker(0));
  world.ready({"e", {}, 1, 0}, worker(0));
  // a, b, d and e go to 1: a; then b and d behind it, as they are less urgent; c to 3.
  EXPECT_EQ(world.pick(3), "c");
  EXPECT_EQ(rest_of(1), (Names{"a", "b", "d", "e"}));
}

TEST_F(LfqTest, PrefetchFollowsPlaceholderAndQueue) {
  begin("1");
  world.only_workers["T3"] = {0};
  world.ready({"T1", {"A", "B"}}, worker(0));
  world.ready({"T2", {"C"}}, worker(0));
  world.ready({"T3", {"D"}}, worker(0));
  EXPECT_EQ(world.upcoming(0, 9), (Names{"A", "B", "D", "C"}));
  EXPECT_EQ(world.upcoming(0, 3), (Names{"A", "B", "D"}));
  EXPECT_EQ(world.upcoming(1, 3), Names{});
}

TEST(Lfq, APlaceholderIsAWholeNumber) {
  EXPECT_THROW(make_policy("lfq:placeholder=-1"), ConfigError);
  EXPECT_THROW(make_policy("lfq:placeholder=0.5"), ConfigError);
}

}  // namespace fairlead::schedule
