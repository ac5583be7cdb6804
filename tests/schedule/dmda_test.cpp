// DMDA and DMDAS by hand. One worker per node unless said; a datum takes from_host_ms to any node that lacks
// it.
#include "schedule/dmda.hpp"

#include <fairlead/error.hpp>

#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {

struct DmdaTest : testing::Test {
  std::unique_ptr<Policy> dmda = make_dmda(DmdaRules{});
  Names queue_of(FakeWorld& world, unsigned by) {
    Names out;
    for (std::string name = world.pick(by); name != "-"; name = world.pick(by)) out.push_back(name);
    return out;
  }
};

// A is on node 0, 1 ms away from node 1; five tasks of 2 ms. Completions: 2 against 3; 4 against 3; now A
// counts as there: 4 against 5; 6 against 5; 6 against 7. Eq. 1 as printed would put all five on node 0.
TEST_F(DmdaTest, TasksGoToTheWorkerWithTheEarliestCompletionIncludingItsQueue) {
  FakeWorld world(2);
  world.from_host_ms = 1;
  world.attach(*dmda);
  world.load("A", node(0));
  for (const char* name : {"T1", "T2", "T3", "T4", "T5"}) world.ready({name, {"A"}, 2});
  EXPECT_EQ(queue_of(world, 0), (Names{"T1", "T3", "T5"}));
  EXPECT_EQ(queue_of(world, 1), (Names{"T2", "T4"}));
}

// The same with transfers as StarPU counts them, four times as long on two devices: 2 against 6; 4 against 6; 6 against 6; 8
// against 6; now A counts as there: 8 against 8; 10 against 8. Where only cores work, as long as they take.
TEST_F(DmdaTest, TransfersMayBeScaledByTwiceTheNumberOfDevices) {
  for (const bool devices : {true, false}) {
    FakeWorld world(2);
    world.from_host_ms = 1;
    if (!devices)
      for (const unsigned by : {0u, 1u}) world.kind(by, WorkerKind::cpu);
    const auto policy = make_policy("dmda:transfers=devices");
    world.attach(*policy);
    world.load("A", node(0));
    for (const char* name : {"T1", "T2", "T3", "T4", "T5", "T6"}) world.ready({name, {"A"}, 2});
    EXPECT_EQ(queue_of(world, 0), (devices ? Names{"T1", "T2", "T3", "T5"} : Names{"T1", "T3", "T5"}));
    EXPECT_EQ(queue_of(world, 1), (devices ? Names{"T4", "T6"} : Names{"T2", "T4", "T6"}));
  }
}

// The worker of node 0 takes 10 ms, the device 1 ms and 2 ms to bring each task's own datum, which node 0 has. Over
// there after, in ms:
//   sum        3, 6, 9, 12: transfers wait for each other
//   duration   3, 4, 5 ... 10, 11: the queue is as long as its durations
//   remainder  3, 6, 7, 8, 9, 10, 11: of the first transfer 2 remain, of the others nothing
TEST_F(DmdaTest, ASlowWorkerGetsWorkWhenTheFastOneHasEnough) {
  const std::vector<std::pair<const char*, Names>> goes_to_the_slow_one = {
      {"dmda:queue=sum", {"T4"}}, {"dmda:queue=duration", {"T8"}}, {"dmda", {"T6"}}};
  for (const auto& [name, slow] : goes_to_the_slow_one) {
    SCOPED_TRACE(name);
    FakeWorld world(2);
    world.times_slower[0] = 10;
    const auto policy = make_policy(name);
    world.attach(*policy);
    for (char i = '1'; i <= '8'; ++i) {
      const std::string number(1, i);
      world.load("D" + number, node(0));
      world.ready({"T" + number, {"D" + number}});
      if (slow.front() == "T" + number) break;
    }
    EXPECT_EQ(queue_of(world, 0), slow);
  }
}

// The estimate for worker 1 is a hundred times longer, but not measured.
TEST_F(DmdaTest, AFewTasksAreTriedWhereTheirDurationIsUnknown) {
  FakeWorld world(1, 2);
  world.times_slower[1] = 100;
  world.unknown_on = {1};
  world.attach(*dmda);
  for (const char* name : {"T1", "T2", "T3", "T4", "T5", "T6"}) world.ready({name, {}});
  EXPECT_EQ(queue_of(world, 1), (Names{"T1", "T2", "T3", "T4"}));
  EXPECT_EQ(queue_of(world, 0), (Names{"T5", "T6"}));
  world.finish("T1", 1);
  world.unknown_on = {};
  world.ready({"T7", {}});
  EXPECT_EQ(queue_of(world, 0), Names{"T7"});
}

TEST_F(DmdaTest, ATaskWithoutAnImplementationForTheFastWorkerGoesToTheSlowOne) {
  FakeWorld world(2);
  world.times_slower[0] = 10;
  world.only_workers["T"] = {0};
  world.attach(*dmda);
  world.ready({"T", {}});
  EXPECT_EQ(world.pick(1), "-");
  EXPECT_EQ(world.pick(0), "T");
}

// Two workers, 10 ms each. T1 finishes after 1 ms instead of 10, when T2 starts: T3 would finish at 11 on worker
// 0 and at 21 on worker 1. Without the notification both would finish at 20.
TEST_F(DmdaTest, ExpectedCompletionsFollowStartsAndFinishes) {
  FakeWorld world(1, 2);
  world.attach(*dmda);
  world.ready({{"T1", {}, 10}, {"T2", {}, 10}});
  EXPECT_EQ(world.request(1), "T2");
  EXPECT_EQ(world.request(0), "T1");
  world.start("T1", 0);
  world.now_ms = 1;
  world.start("T2", 1);
  world.finish("T1", 0);
  world.ready({"T3", {}, 10});
  EXPECT_EQ(queue_of(world, 0), Names{"T3"});
  world.ready({"T4", {}, 10});  // 21 on worker 0, where T3 is in the pipeline; 11 + 10 on worker 1
  EXPECT_EQ(queue_of(world, 0), Names{"T4"});
  world.ready({"T5", {}, 10});
  EXPECT_EQ(queue_of(world, 1), Names{"T5"});
}

TEST_F(DmdaTest, AReturnedTaskIsAssignedAgainAndCountsOnce) {
  FakeWorld world(1, 2);
  world.attach(*dmda);
  world.ready({{"T1", {}, 10}, {"T2", {}, 10}});
  EXPECT_EQ(world.pick(0), "T1");
  world.give_back("T1");
  world.ready({"T3", {}, 10});  // 20 on either
  EXPECT_EQ(queue_of(world, 0), (Names{"T1", "T3"}));
  EXPECT_EQ(queue_of(world, 1), Names{"T2"});
}

TEST_F(DmdaTest, TasksOfALostWorkerAreReassigned) {
  FakeWorld world(2);
  world.attach(*dmda);
  world.ready({{"T1", {}, 10}, {"T2", {}, 10}});
  dmda->worker_lost(worker(0));
  EXPECT_EQ(queue_of(world, 1), (Names{"T2", "T1"}));
}

TEST_F(DmdaTest, PrefetchFollowsTheWorkersQueue) {
  FakeWorld world(2);
  world.attach(*dmda);
  world.ready({{"T1", {"A", "B"}}, {"T2", {"C"}}, {"T3", {"D"}, 1, 9}});
  EXPECT_EQ(world.upcoming(0, 3), (Names{"A", "B"}));
  EXPECT_EQ(world.upcoming(1, 3), (Names{"C", "D"}));  // first come, first served, whatever the priority
}

// upcoming() is called at each event: it must not scan thousands of tasks that read nothing.
TEST_F(DmdaTest, PrefetchLooksAtTheNextTasksOnly) {
  FakeWorld world;
  world.attach(*dmda);
  for (int i = 0; i < 10; ++i) world.ready({"T" + std::to_string(i), {}});
  world.ready({"reads", {"A"}});
  EXPECT_EQ(world.upcoming(0, 4), Names{"A"});
  for (int i = 0; i < 100; ++i) world.ready({"more" + std::to_string(i), {}});
  world.ready({"late", {"B"}});
  EXPECT_EQ(world.upcoming(0, 4), Names{"A"});
}

// T1 would load A and B, T2 only A, T3 nothing.
TEST(Dmdas, AWorkerTakesTheTaskWithTheFewestMissingBytes) {
  FakeWorld world;
  const auto dmdas = make_policy("dmdas");
  world.attach(*dmdas);
  world.load("C", node(0));
  world.ready({{"T1", {"A", "B"}, 1, 9}, {"T2", {"A", "C"}, 1, 5}, {"T3", {"C"}, 1, 1}});
  EXPECT_EQ(world.request(0), "T3");
  EXPECT_EQ(world.request(0), "T2");
  EXPECT_EQ(world.request(0), "T1");
}

TEST(Dmdas, AmongEqualsItTakesTheMostUrgent) {
  FakeWorld world;
  const auto dmdas = make_policy("dmdas");
  world.attach(*dmdas);
  world.ready({{"T1", {"A"}, 1, 1}, {"T2", {"B"}, 1, 3}, {"T3", {"C"}, 1, 3}});
  EXPECT_EQ(world.request(0), "T2");
  EXPECT_EQ(world.request(0), "T3");
  EXPECT_EQ(world.upcoming(0, 3), Names{"A"});
}

// T1 and T2 are the most urgent, T2 would load less; T3 would load nothing, but waits.
TEST(Dmdas, MayChooseAmongTheTasksOfHighestPriorityOnly) {
  FakeWorld world;
  const auto dmdas = make_policy("dmdas:ready=first");
  world.attach(*dmdas);
  world.load("C", node(0));
  world.ready({{"T1", {"A", "B"}, 1, 9}, {"T2", {"A", "C"}, 1, 9}, {"T3", {"C"}, 1, 1}});
  EXPECT_EQ(world.request(0), "T2");
  EXPECT_EQ(world.request(0), "T1");
  EXPECT_EQ(world.request(0), "T3");
  EXPECT_THROW(make_policy("dmdas:ready=frist"), ConfigError);
}

}  // namespace fairlead::schedule
