// Random tasks on cores and devices, some of which are lost: each worker finds the tasks that it can run, and none is
// left.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "at_length.hpp"
#include "schedule/heteroprio/hetero_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

constexpr unsigned workers = 6;  // 0 and 1 are cores, 2 and 3 a device's, 4 and 5 another's

struct Run {
  std::string order;
  std::size_t left = 0;
};

/// Returns the worker of each task.
Run run(const std::string& policy, std::uint64_t seed) {
  Random random(seed);
  HeteroWorld world(2, 2, 2, random.once_in(2) ? WorkerKind::cuda : WorkerKind::emulated);
  const WorkerKind device = world.workers()[2].kind;
  for (const int name : {0, 1, 2, 3}) {
    Times times{{WorkerKind::cpu, 1. + random.unit() * 9}};
    if (name != 0) times[device] = 1. + random.unit() * 9;
    if (name == 1) times.erase(WorkerKind::cpu);
    if (random.once_in(3)) world.guesses.insert({"codelet" + std::to_string(name), device});
    world.codelet("codelet" + std::to_string(name), times);
  }
  world.attach(make_policy(policy));
  for (const char* datum : {"A", "B", "C", "D"}) world.datum(datum);

  Run result;
  std::set<std::string> waiting;
  std::set<unsigned> lost;
  const auto letter = [&] { return std::string(1, "ABCD"[random.below(4)]); };
  const auto ask = [&](unsigned by, bool must) {
    const std::string name = world.pick(by, must);
    if (name == "-") return false;
    EXPECT_TRUE(world.can_run(world.task(name), worker(by))) << name;
    EXPECT_EQ(waiting.erase(name), 1u) << name;
    result.order += std::to_string(by) + name + " ";
    if (random.once_in(5)) {
      world.give_back(name);
      waiting.insert(name);
    } else {
      world.admit(name);
      world.finish(name, by);
    }
    return true;
  };
  for (int step = 0; step < 400; ++step) {
    const auto by = static_cast<unsigned>(random.below(workers));
    if (random.once_in(2)) {
      const std::string name = "T" + std::to_string(step);
      if (random.once_in(4)) world.exclude(name, static_cast<unsigned>(random.below(3)));
      if (random.once_in(8)) world.only_workers[name] = {static_cast<unsigned>(random.below(workers))};
      waiting.insert(name);
      world.ready("codelet" + std::to_string(random.below(4)),
                  Spec{name, {letter()}, 1, 0, {}, {"X" + letter()}},
                  random.once_in(3) ? no_id<WorkerId> : worker(by));
    } else if (random.once_in(60)) {
      lost.insert(by);
      world.policy().worker_lost(worker(by));
    } else if (!lost.contains(by)) {
      world.upcoming(by, 4);
      ask(by, random.once_in(10));
    }
  }
  // After all workers have been called with `must`, no remaining worker can run the rest.
  for (bool again = true; again;) {
    again = false;
    for (unsigned by = 0; by < workers; ++by)
      while (!lost.contains(by) && ask(by, true)) again = true;
  }
  for (const std::string& name : waiting)
    for (unsigned by = 0; by < workers; ++by)
      EXPECT_TRUE(lost.contains(by) || !world.can_run(world.task(name), worker(by))) << name << " by " << by;
  result.left = waiting.size();
  return result;
}

TEST(HeteroprioRandom, EachWorkerFindsTheTasksThatItCanRun) {
  std::size_t left = 0;
  for (const std::string policy :
       {"heteroprio", "laheteroprio", "laheteroprio:affinity=mc:lambda=1:subgroups=0",
        "laheteroprio:affinity=laru:speedup=codelet2@cpu@50"})
    for (std::uint64_t seed = 1; seed <= (tests::many_cases() ? 100 : 30); ++seed) {
      SCOPED_TRACE(policy + ", seed " + std::to_string(seed));
      left += run(policy, seed).left;
      if (HasFailure()) return;
    }
  EXPECT_GT(left, 0u);  // tasks that only lost workers could run
}

TEST(HeteroprioRandom, TheSameEventsGiveTheSameDecisions) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(run("laheteroprio", seed).order, run("laheteroprio", seed).order);
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
