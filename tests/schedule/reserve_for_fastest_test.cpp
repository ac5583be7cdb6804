// Slower workers leave tasks to faster ones, unless those have too large a backlog. A table of what a core and a
// device get, one after the other.
#include "schedule/reserve_for_fastest.hpp"

#include <memory>
#include <string>
#include <vector>

#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

constexpr const char* eager[] = {"eager"};
constexpr const char* all_impatient[] = {"eager",        "lws",         "lfq",         "ap",        "darts",
                                         "darts-belady", "darts-chain", "darts-defer", "ap-dplasma"};

enum class Do : std::uint8_t {
  ready,          // so many tasks more: T1, T2, ...
  core_asks,      // and gets `task`: a name, "-" for none, "*" for any
  device_asks,    // likewise
  core_must,      // asks, while nothing runs
  core_gets_any,  // of those that there are
  wait_20ms,
  core_is_done,  // with `task`
  give_back,
  cancel,
  lose_the_device,
};
struct Step {
  Do what;
  const char* task = "*";
  int times = 1;
};
struct Case {
  const char* name;
  std::span<const char* const> policies;
  std::vector<Step> steps;
  double slower = 10;            // the core than the device, on which a task takes 1 ms
  bool only_the_core = false;    // can run the tasks
  bool core_is_a_guess = false;  // its durations are not measured
};

const std::vector<Case> cases{
    // The device finishes all three before the core finishes one.
    {"ASlowCoreLeavesAFewTasksToTheDevice",
     all_impatient,
     {{Do::ready, "", 3}, {Do::core_asks, "-"}, {Do::device_asks, "*", 3}, {Do::device_asks, "-"}}},
    // The core takes 10 ms, the device 13 for the tasks before the fourteenth: late enough. Behind that task the
    // core would finish after 20 ms.
    {"ACoreTakesTasksThatItFinishesSooner",
     eager,
     {{Do::ready, "", 16}, {Do::core_asks, "T14"}, {Do::core_asks, "-"}, {Do::device_asks, "T1"}}},
    {"ReservedTasksGoToTheDevice",
     eager,
     {{Do::ready, "", 16}, {Do::device_asks, "*", 16}, {Do::device_asks, "-"}}},
    {"ACoreTakesNoTaskWhenTheDeviceHasNearlyFinished",
     eager,
     {{Do::ready, "", 16}, {Do::device_asks, "*", 8}, {Do::core_asks, "-"}, {Do::device_asks, "*", 8}}},
    {.name = "CoresTakeTasksThatOnlyTheyCanRunAtOnce",
     .policies = all_impatient,
     .steps = {{Do::ready}, {Do::device_asks, "-"}, {Do::core_asks, "T1"}},
     .only_the_core = true},
    // For instance, a factorization's small tasks.
    {"ADeviceLeavesTasksToAFasterCore",
     eager,
     {{Do::ready, "", 2}, {Do::device_asks, "-"}, {Do::core_asks, "T1"}, {Do::core_asks, "T2"}},
     0.1},
    {.name = "AKindWhoseEstimatesAreGuessesTriesATask",
     .policies = eager,
     .steps = {{Do::ready, "", 3}, {Do::core_asks, "T1"}, {Do::device_asks, "T2"}},
     .core_is_a_guess = true},
    // One task at a time: its measured time may show that the core is faster.
    {.name = "ACoreThatTriedATaskTriesAnother",
     .policies = all_impatient,
     .steps = {{Do::ready, "", 4},
               {Do::core_asks, "T1"},
               {Do::ready},
               {Do::core_asks, "-"},
               {Do::core_is_done, "T1"},
               {Do::core_asks, "T5"}},
     .core_is_a_guess = true},
    // The device does not pick: it may be blocked.
    {"IfNothingElseRunsTheCoreGetsAnyTask",
     all_impatient,
     {{Do::ready, "", 3},
      {Do::core_must, "-"},
      {Do::core_gets_any},
      {Do::core_must, "-"},
      {Do::core_gets_any},
      {Do::core_must, "-"},
      {Do::core_gets_any},
      {Do::core_gets_any, "-"}}},
    // Some of the thirty tasks were reserved for the device.
    {"ACoreRunsTheTasksOfALostDevice",
     all_impatient,
     {{Do::ready, "", 30},
      {Do::lose_the_device},
      {Do::ready, "", 2},
      {Do::core_asks, "*", 32},
      {Do::core_asks, "-"}}},
    {"ReturnedOrCancelledTasksLeaveNoBacklog",
     eager,
     {{Do::ready, "", 3},
      {Do::device_asks, "T1"},
      {Do::give_back, "T1"},
      {Do::core_asks, "-"},
      {Do::device_asks, "T2"},
      {Do::device_asks, "T3"},
      {Do::device_asks, "T1"},
      {Do::cancel, "T1"},
      {Do::core_asks, "-"}}},
    // The device waits 19 ms for each task's data: the core finishes sooner, although it computes ten times as
    // long.
    {"TransfersCountForTheSpeedOfADevice",
     eager,
     {{Do::ready, "", 4},
      {Do::device_asks, "T1"},
      {Do::wait_20ms},
      {Do::device_asks, "T2"},
      {Do::wait_20ms},
      {Do::device_asks, "T3"},
      {Do::wait_20ms},
      {Do::device_asks, "T4"},
      {Do::wait_20ms},
      {Do::ready, "", 2},
      {Do::core_asks, "T5"}}},
};

/// Worker 0 is a core, worker 1 a device.
class CoreAndDevice : public FakeWorld {
 public:
  CoreAndDevice(const Case& given, const char* policy)
      : FakeWorld(2), policy_(make_policy(policy)), case_(given) {
    kind(0, WorkerKind::cpu);
    times_slower[0] = given.slower;
    if (given.core_is_a_guess) unknown_on = {0};
    attach(*policy_);
    in_place("A", node(0));
  }
  void perform(const Step& step) {
    switch (step.what) {
      case Do::ready:
        return make_ready();
      case Do::core_asks:
        return expect(pick(0), step.task);
      case Do::device_asks:
        return expect(pick(1), step.task);
      case Do::core_must:
        return expect(pick(0, true), step.task);
      case Do::core_gets_any: {
        const Task* task = policy_->take_any(worker(0));
        return expect(task == nullptr ? "-" : name_of(*task), step.task);
      }
      case Do::wait_20ms:
        now_ms += 20;
        return;
      case Do::core_is_done:
        return finish(step.task);
      case Do::give_back:
        return give_back(step.task);
      case Do::cancel:
        return policy_->cancelled(task(step.task));
      case Do::lose_the_device:
        return policy_->worker_lost(worker(1));
    }
  }

 private:
  void make_ready() {
    const std::string name = "T" + std::to_string(++tasks_);
    if (case_.only_the_core) only_workers[name] = {0};
    ready({name, {"A"}});
  }
  static void expect(const std::string& got, const std::string& expected) {
    if (expected == "*")
      EXPECT_NE(got, "-");
    else
      EXPECT_EQ(got, expected);
  }

  std::unique_ptr<Policy> policy_;
  const Case& case_;
  int tasks_ = 0;
};

struct ReserveForFastest : testing::TestWithParam<Case> {};

}  // namespace

TEST_P(ReserveForFastest, GivesTheExpectedTasks) {
  for (const char* policy : GetParam().policies) {
    SCOPED_TRACE(policy);
    CoreAndDevice world(GetParam(), policy);
    int done = 0;
    for (const Step& step : GetParam().steps) {
      SCOPED_TRACE("step " + std::to_string(++done));
      for (int i = 0; i < step.times; ++i) world.perform(step);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ReserveForFastest, testing::ValuesIn(cases),
                         [](const auto& made) { return std::string(made.param.name); });

TEST(PatienceAmongEquals, WorkersOfOneKindAreNotPatient) {
  FakeWorld world(2);
  world.times_slower[0] = 10;
  const auto policy = make_policy("eager");
  world.attach(*policy);
  world.ready({{"T1", {"A"}}, {"T2", {"A"}}});
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(1), "T2");
}

TEST(PatienceOfACore, ATaskThatOnlyItCanRunIsNoTrial) {
  FakeWorld world(2);
  world.kind(0, WorkerKind::cpu);
  world.times_slower[0] = 10;
  world.unknown_on = {0};
  const auto policy = make_policy("eager");
  world.attach(*policy);
  world.in_place("A", node(0));
  world.only_workers["T1"] = {0};
  world.ready({{"T1", {"A"}}, {"T2", {"A"}}, {"T3", {"A"}}});
  EXPECT_EQ(world.pick(0), "T1");
  EXPECT_EQ(world.pick(0), "T2");
  EXPECT_EQ(world.pick(0), "-");
}

}  // namespace fairlead::schedule
