// The policy with locality: the node whose list holds a task, and the workers that steal it.
#include <gtest/gtest.h>

#include <string>

#include "schedule/heteroprio/hetero_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

constexpr unsigned device1 = 1, device2 = 2;

/// One core and two devices, all equally fast; gemm is visited before trsm.
class LaHeteroprio : public testing::Test {
 protected:
  HeteroWorld world{1, 2};
  void start(const std::string& options) {
    world.codelet("gemm", on_both(1, 1));
    world.codelet("trsm", on_both(1, 1));
    world.attach(
        make_policy("laheteroprio:cpu=gemm/trsm:cuda=gemm/trsm:speedup=gemm@cpu@1/trsm@cpu@1:" + options));
    for (const char* datum : {"A", "B", "C", "D"}) world.datum(datum);
  }
  void at(const std::string& datum, unsigned where) { world.load(datum, node(where)); }
};

TEST_F(LaHeteroprio, ATaskWaitsWhereItsDataAre) {
  start("affinity=sdh");
  at("A", 1);
  at("B", 2);
  world.ready("gemm", Spec{"with A", {"A"}});
  world.ready("gemm", Spec{"with B", {"B"}});
  EXPECT_EQ(world.pick(device2), "with B");
  EXPECT_EQ(world.pick(device1), "with A");
}

// Node 0 has two data that are read, 20 bytes, node 1 one that is written, 15: 20 bytes are absent there, and
// on node 0 15, which count 25 for LC_SMWB.
TEST_F(LaHeteroprio, DataChangedElsewhereAreNotAtHome) {
  start("affinity=sdh");
  at("A", 0);
  at("A", 1);
  world.old.insert({world.datum("A"), node(0)});
  world.ready("gemm", Spec{"T", {"A"}}, worker(core));
  world.ready("gemm", Spec{"here", {}}, worker(core));
  EXPECT_EQ(world.pick(core), "here");
  EXPECT_EQ(world.pick(device1), "T");
}

TEST_F(LaHeteroprio, TheAffinityDecidesWhere) {
  for (const auto& [affinity, by] : std::vector<std::pair<std::string, unsigned>>{
           {"sdh", core}, {"sdh2", device1}, {"sdhb", device1}, {"mc", core}, {"smwb", device1}}) {
    SCOPED_TRACE(affinity);
    HeteroWorld machine(1, 2);
    machine.codelet("gemm", on_both(1, 1));
    machine.attach(make_policy("laheteroprio:speedup=gemm@cpu@1:affinity=" + affinity));
    machine.sizes = {{"A", 10}, {"B", 10}, {"C", 15}};
    machine.load("A", node(0));
    machine.load("B", node(0));
    machine.load("C", node(1));
    // What its own node has comes first, newest or not.
    machine.ready("gemm", Spec{"T", {"A", "B"}, 1, 0, {"C"}});
    machine.ready("gemm", Spec{"other", {}}, worker(by == core ? device1 : core));
    EXPECT_EQ(machine.pick(by), "T");
  }
}

TEST_F(LaHeteroprio, LaRuPlacesATaskOnItsReleasersNode) {
  start("affinity=laru");
  at("A", 1);
  world.ready("gemm", Spec{"from 2", {"A"}}, worker(device2));
  world.ready("gemm", Spec{"from 1", {"A"}}, worker(device1));
  EXPECT_EQ(world.pick(device1), "from 1");
  EXPECT_EQ(world.pick(device2), "from 2");
}

TEST_F(LaHeteroprio, TiesGoToThePusherElseToTheFirstNode) {
  start("affinity=sdh");
  world.ready("gemm", Spec{"from 2", {"A"}}, worker(device2));
  world.ready("gemm", Spec{"not released", {"A"}});
  EXPECT_EQ(world.pick(device2), "from 2");
  EXPECT_EQ(world.pick(core), "not released");
}

TEST_F(LaHeteroprio, ItsOwnListIsServedFromTheFrontThatOfAnotherNodeFromTheBack) {
  start("affinity=laru");
  for (const char* name : {"T1", "T2", "T3", "T4"}) world.ready("gemm", Spec{name, {}}, worker(device1));
  EXPECT_EQ(world.pick(device1), "T1");
  EXPECT_EQ(world.pick(device2), "T4");
  EXPECT_EQ(world.pick(core), "T3");
  EXPECT_EQ(world.pick(device1), "T2");
}

// A device looks at its own gemm and trsm, then at those of its closest node.
TEST_F(LaHeteroprio, LambdaLimitsLocalityBeforePriority) {
  for (const auto& [lambda, first] :
       std::vector<std::pair<std::string, std::string>>{{"all", "trsm here"}, {"1", "gemm there"}}) {
    HeteroWorld machine(1, 2);
    machine.codelet("gemm", on_both(1, 1));
    machine.codelet("trsm", on_both(1, 1));
    machine.attach(make_policy("laheteroprio:cpu=gemm/trsm:cuda=gemm/trsm:affinity=laru:lambda=" + lambda +
                               ":speedup=gemm@cpu@1/trsm@cpu@1"));
    machine.ready("gemm", Spec{"gemm there", {}}, worker(core));
    machine.ready("trsm", Spec{"trsm here", {}}, worker(device1));
    EXPECT_EQ(machine.pick(device1), first) << lambda;
  }
}

// The first task reads E and writes F, and E arrives on node 1 while the task waits: LS_SDH and LC_SMWB would
// now place it elsewhere. So LS_SDH2 places the second, the sixth row of Table 1, on node 1; LS_SDH would take
// node 2.
TEST_F(LaHeteroprio, ChoosesTheSteadiestAffinity) {
  for (const bool moves : {false, true}) {
    SCOPED_TRACE(moves);
    HeteroWorld machine(1, 2);
    machine.codelet("gemm", on_both(1, 1));
    machine.attach(make_policy("laheteroprio:speedup=gemm@cpu@1"));
    machine.sizes = {{"E", 5}, {"F", 3}, {"A", 10}, {"B", 11}, {"C", 18}, {"D", 11}};
    machine.datum("F");
    machine.load("E", node(0));
    machine.load("F", node(1));
    machine.ready("gemm", Spec{"first", {"E"}, 1, 0, {"F"}});
    if (moves) machine.load("E", node(1));
    EXPECT_EQ(machine.pick(core), "first");

    for (const char* datum : {"A", "D"}) machine.load(datum, node(0));
    machine.load("C", node(1));
    for (const char* datum : {"B", "D"}) machine.load(datum, node(2));
    machine.ready("gemm", Spec{"second", {}, 1, 0, {"A", "B", "C", "D"}});
    // What its own list has comes first.
    for (const unsigned device : {device1, device2})
      machine.ready("gemm", Spec{"of " + std::to_string(device), {}}, worker(device));
    EXPECT_EQ(machine.pick(device1), moves ? "second" : "of 1");
    EXPECT_EQ(machine.pick(device2), moves ? "of 2" : "second");
  }
}

TEST_F(LaHeteroprio, TasksOfANodeWithoutWorkersAreStolen) {
  start("affinity=sdh");
  at("A", 2);
  world.ready("gemm", Spec{"T1", {"A"}});
  world.ready("gemm", Spec{"T2", {"A"}});
  world.policy().worker_lost(worker(device2));
  EXPECT_EQ(world.pick(device1), "T2");
  EXPECT_EQ(world.pick(core), "T1");
}

// A task for cores whose data are on a device waits in its list all the same: they steal it.
TEST_F(LaHeteroprio, AListMayHoldTasksThatItsOwnWorkersCannotRun) {
  start("affinity=sdh");
  world.codelet("potrf", {{WorkerKind::cpu, 1}});
  at("A", 2);
  world.ready("potrf", Spec{"P", {"A"}});
  EXPECT_EQ(world.pick(device2, true), "-");
  EXPECT_EQ(world.pick(core), "P");
}

// Otherwise the affinity that has placed the task would look steady, since the data follow its choice.
TEST_F(LaHeteroprio, DoesNotPrefetchForTasksThatNoWorkerHasTaken) {
  start("affinity=laru");
  world.ready("gemm", Spec{"G", {"A"}}, worker(device1));
  EXPECT_EQ(world.upcoming(device1, 8), Names{});
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
