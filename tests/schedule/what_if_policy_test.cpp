// Which policy is selected, when, and how a successor continues. The outcomes of simulations are made up.
#include <fairlead/error.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "policy/what_if_simulation.hpp"
#include "schedule/fake_world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

/// Returns the outcomes that a test sets, and records its calls.
class FakeSimulation final : public WhatIfSimulation, public Simulator {
 public:
  void cancel() noexcept override { given_up = true; }
  std::vector<SimulationOutcome> simulate(std::span<const std::string> policies, Duration enough,
                                          Duration patience) override {
    const double part = static_cast<double>(enough.count()) / static_cast<double>(all.count());
    least_part = std::min(least_part, part);
    std::vector<SimulationOutcome> outcomes;
    for (const std::string& policy : policies) {
      ++simulations[policy];
      const Duration whole = takes.contains(policy) ? takes.at(policy) : others;
      const Duration time(static_cast<std::int64_t>(static_cast<double>(whole.count()) * part));
      outcomes.push_back({time > patience ? Duration::max() : time,
                          {first_quarter(time), time / 2, 3 * time / 4},
                          moves.contains(policy) ? moves.at(policy) : Bytes{1000}});
    }
    return outcomes;
  }
  std::size_t idle_cores() const noexcept override { return idle; }
  std::size_t idle = 1;
  std::map<std::string, Duration> takes;
  std::map<std::string, Bytes> moves;
  Duration others = ms(1000);
  bool begins_slowly = false;
  Duration all = ms(200 * 100);  // the work of the submitted tasks
  std::map<std::string, int> simulations;
  std::size_t tasks_simulated = 0;
  double least_part = 1;
  Evaluation judge;  // of the simulation in progress
  bool given_up = false;

 private:
  Duration first_quarter(Duration time) const { return begins_slowly ? 2 * time / 5 : time / 4; }
  void capture(std::span<Task* const> tasks, Evaluation evaluation) override {
    tasks_simulated = tasks.size();
    judge = std::move(evaluation);
  }
};

struct WhatIfPolicyTest : testing::Test {
  void begin(const char* name = "what-if", unsigned nodes = 2, WorkerKind kind = WorkerKind::cuda) {
    world.emplace(nodes);
    for (unsigned i = 0; i < nodes; ++i) world->kind(i, kind);
    world->played_by = &what_if;
    world->from_host_ms = 0;
    policy = make_policy(name);
    world->attach(*policy);
  }
  void submit(double task_ms = 100, int tasks = 200, int data = 1 << 20) {
    for (int i = 0; i < tasks; ++i)
      world->submit_ready({"T" + std::to_string(submitted++), {"D" + std::to_string(i % data)}, task_ms, i});
  }
  /// The flow waits; the simulations that start finish at once.
  void close() {
    policy->horizon_closed();
    while (what_if.judge) finish_simulation();
  }
  void finish_simulation() {
    const std::uint64_t finding = std::exchange(what_if.judge, nullptr)(what_if);
    what_if.note_finished();
    policy->simulation_finished(finding);
  }
  /// 2,000 tasks of 50 microseconds, 50 ms in all by default: the simulations take too long for workers to wait.
  void begin_with_slow_simulations() {
    what_if.others = ms(50);
    what_if.all = ms(2000 * 0.05);
    begin("what-if:within=1");
    submit(0.05, 2000);
    policy->horizon_closed();
  }
  /// The first tasks of worker 0 if all data are present.
  Names first_three() {
    Names names;
    for (int i = 0; i < 3; ++i) names.push_back(world->pick(0));
    return names;
  }
  FakeSimulation what_if;
  std::optional<FakeWorld> world;
  std::unique_ptr<Policy> policy;
  int submitted = 0;
};

}  // namespace

TEST_F(WhatIfPolicyTest, SelectsTheFastestCandidate) {
  what_if.takes = {{"blocks", ms(500)}};
  begin();
  submit();
  close();
  EXPECT_EQ(what_if.tasks_simulated, 200u);
  EXPECT_EQ(what_if.simulations.size(), 7u);
  EXPECT_EQ(what_if.least_part, 1);
  // In program order; near would take the most urgent tasks.
  EXPECT_EQ(first_three(), (Names{"T0", "T1", "T2"}));
}

TEST_F(WhatIfPolicyTest, NoTaskStartsBeforeTheDecisionUnlessNothingRuns) {
  begin();
  submit();
  EXPECT_EQ(world->pick(0), "-");
  EXPECT_EQ(world->pick(1), "-");
  EXPECT_NE(world->take_any(0), "-");
  close();
  EXPECT_NE(world->pick(0), "-");
}

// Simulating 200 tasks six times takes about 3 ms, and they may wait for 500. They wait for the result.
TEST_F(WhatIfPolicyTest, NoTaskStartsDuringShortSimulations) {
  what_if.takes = {{"blocks", ms(500)}};
  begin();
  submit();
  policy->horizon_closed();
  EXPECT_TRUE(what_if.judge);
  EXPECT_EQ(world->pick(0), "-");
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_EQ(world->pick(0), "T0");
}

// 2,000 tasks of 50 microseconds on two workers take 50 ms, and simulating them takes 30.
TEST_F(WhatIfPolicyTest, TheFirstPolicyContinuesDuringLongSimulations) {
  what_if.takes = {{"blocks", ms(35)}};
  begin_with_slow_simulations();
  ASSERT_TRUE(what_if.judge);  // the quick check
  EXPECT_EQ(world->pick(0), "T1998");
  world->finish("T1998", 0);
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "near");
  ASSERT_TRUE(what_if.judge);  // confirms it from the current state
  EXPECT_EQ(what_if.tasks_simulated, 1999u);
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_EQ(first_three(), (Names{"T0", "T1", "T2"}));
}

// Not even for a part of a simulation.
TEST_F(WhatIfPolicyTest, NoWorkerWaitsIfAllSimulationsAreLong) {
  what_if.takes = {{"blocks", ms(45)}, {"darts", ms(25)}};
  what_if.others = ms(50);
  what_if.all = ms(2000 * 0.05);
  begin("what-if:within=1");
  submit(0.05, 2000);
  policy->horizon_closed();
  EXPECT_EQ(world->pick(0), "T1998");
  ASSERT_TRUE(what_if.judge);  // alongside the tasks
  while (what_if.judge) finish_simulation();
  EXPECT_EQ(policy->active_policy(), "darts");
}

// 2,000 tasks of 50 microseconds, too short to wait: the first policy plans reuse, unless the transfers take longer than
// the computation. A quick check would not show repeated transfers.
TEST_F(WhatIfPolicyTest, IfDataExceedTheMemoriesTheBottleneckSelectsTheFirstPolicy) {
  for (const bool ways_limit : {false, true}) {
    submitted = 0;
    what_if.simulations.clear();
    what_if.others = ms(50);
    what_if.all = ms(2000 * 0.05);
    begin("what-if:share=0:within=1:off=quick-check");
    world->sizes["D0"] = Bytes{1} << 42;
    if (ways_limit) world->from_host_ms = 1;
    submit(0.05, 2000);
    policy->horizon_closed();
    EXPECT_EQ(policy->active_policy(), ways_limit ? "darts" : "blocks");
    ASSERT_TRUE(what_if.judge);
    finish_simulation();
    EXPECT_EQ(what_if.simulations.size(), 6u);
    EXPECT_EQ(what_if.simulations.at("dmdas"), 1);
  }
}

// A part does not show how often the data are transferred.
TEST_F(WhatIfPolicyTest, IfDataExceedTheMemoriesTheQuickCheckCoversAllOrIsSkipped) {
  for (const bool all : {false, true}) {
    submitted = 0;
    what_if.simulations.clear();
    what_if.others = ms(50);
    what_if.all = ms(2000 * 0.2);
    what_if.takes = {{"near", ms(40)}};
    begin(all ? "what-if:share=0:within=1" : "what-if:share=0");
    world->sizes["D0"] = Bytes{1} << 42;
    submit(0.2, 2000);
    policy->horizon_closed();
    finish_simulation();
    EXPECT_EQ(what_if.simulations.contains("dmdas"), !all);
    EXPECT_EQ(policy->active_policy(), "blocks");
    if (all) {
      finish_simulation();  // confirmed from the current state
      EXPECT_EQ(policy->active_policy(), "near");
      EXPECT_TRUE(what_if.judge);
    }
    while (what_if.judge) finish_simulation();
    EXPECT_TRUE(what_if.simulations.contains("dmdas"));
  }
}

TEST_F(WhatIfPolicyTest, AnUnconfirmedResultIsIgnored) {
  for (const char* better : {"blocks", "darts"}) {  // in the quick check, and in the full simulations
    SCOPED_TRACE(better);
    submitted = 0;
    what_if.takes = {{better, ms(35)}};
    begin_with_slow_simulations();
    finish_simulation();
    if (what_if.takes.contains("darts")) finish_simulation();
    what_if.takes = {{better, ms(60)}};
    finish_simulation();
    EXPECT_EQ(policy->active_policy(), "near");
    while (what_if.judge) finish_simulation();
    EXPECT_EQ(policy->active_policy(), "near");
  }
}

// All simulations take 31 ms: too long to wait if the run takes as long as expected, which an eighth of it shows.
TEST_F(WhatIfPolicyTest, APartOfASimulationShowsWhetherWorkersCanWait) {
  what_if.all = ms(2000 * 0.05);
  for (const bool as_expected : {false, true}) {
    what_if.others = as_expected ? ms(50) : ms(500);
    what_if.takes = {{"darts", what_if.others / 2}};
    what_if.simulations.clear();
    what_if.least_part = 1;
    begin("what-if:share=0.15:within=1:off=quick-check");
    submit(0.05, 2000);
    policy->horizon_closed();
    EXPECT_TRUE(policy->awaits_simulation());
    EXPECT_EQ(what_if.priority(), WhatIfSimulation::Priority::normal);
    EXPECT_EQ(world->pick(0), "-");
    finish_simulation();
    EXPECT_EQ(what_if.least_part, 1.0 / 8);
    EXPECT_FALSE(policy->awaits_simulation());
    EXPECT_TRUE(!what_if.judge || what_if.priority() == WhatIfSimulation::Priority::lowest);
    EXPECT_EQ(policy->active_policy(), as_expected ? "near" : "darts");
    EXPECT_EQ(what_if.simulations.contains("darts"), !as_expected);
    EXPECT_NE(world->pick(0), "-");
    while (what_if.judge) finish_simulation();
    EXPECT_EQ(policy->active_policy(), "darts");
    submitted = 0;
  }
}

// A bad policy is replaced before all simulations have finished.
TEST_F(WhatIfPolicyTest, TheQuickCheckReplacesABadActivePolicy) {
  what_if.takes = {{"near", ms(500)}, {"darts", ms(40)}};
  begin_with_slow_simulations();
  finish_simulation();
  EXPECT_LT(what_if.least_part, 0.5);
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "blocks");
  while (what_if.judge) finish_simulation();
  EXPECT_EQ(policy->active_policy(), "darts");
}

TEST_F(WhatIfPolicyTest, ExcludedCandidatesAreNotSimulated) {
  what_if.takes = {{"blocks", ms(500)}, {"darts", ms(400)}};
  begin("what-if:off=darts+nearer");
  submit();
  close();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_EQ(what_if.simulations.size(), 5u);
  EXPECT_FALSE(what_if.simulations.contains("darts"));
  EXPECT_THROW(make_policy("what-if:off=dart"), ConfigError);
}

TEST_F(WhatIfPolicyTest, PartsCanBeDisabled) {
  begin("what-if:off=wait");
  submit();
  EXPECT_NE(world->pick(0), "-");

  submitted = 0;
  what_if.takes = {{"without:workers=1:policy=near", ms(500)}};
  begin("what-if:off=fewer-workers");
  world->times_slower[1] = 10;
  submit();
  close();
  EXPECT_EQ(policy->active_policy(), "near");

  submitted = 0;
  what_if.takes = {{"darts", ms(990)}};
  begin("what-if:first=near:off=fewest-bytes");
  world->sizes["D0"] = Bytes{1} << 42;
  submit();
  close();
  EXPECT_EQ(policy->active_policy(), "darts");

  submitted = 0;
  what_if.takes = {{"blocks", ms(35)}};
  what_if.others = ms(50);
  what_if.all = ms(2000 * 0.05);
  begin("what-if:within=1:off=quick-check+confirm");
  submit(0.05, 2000);
  policy->horizon_closed();
  EXPECT_EQ(world->pick(0), "T1998");
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_FALSE(what_if.judge);
}

// The simulations do not count the time of the cores that copies to and from the disk take.
TEST_F(WhatIfPolicyTest, WithOneMemoryThePolicyThatMovesTheFewestBytesInTheSimulationsIsSelected) {
  what_if.takes = {{"darts", ms(990)}, {"dmdas", ms(1100)}};
  what_if.moves = {{"darts", 900}, {"dmdas", 1}, {"program-order", 300}, {"blocks", 301}};
  for (const bool exceed : {false, true}) {
    begin("what-if:first=near", 1, WorkerKind::cpu);
    if (exceed) world->sizes["D0"] = Bytes{1} << 42;
    submit();
    close();
    EXPECT_EQ(policy->active_policy(), exceed ? "program-order" : "darts");
    EXPECT_EQ(what_if.simulations["heft-tmdp-init"] + what_if.simulations["nearer"], 0);
    submitted = 0;
  }
}

TEST_F(WhatIfPolicyTest, WithSeveralMemoriesTheOrderOfTheProgramIsNoCandidate) {
  what_if.takes = {{"program-order", ms(100)}};
  begin();
  submit();
  close();
  EXPECT_EQ(what_if.simulations["program-order"], 0);
}

// Worker 1 takes ten times as long, and a run that uses it takes longer.
TEST_F(WhatIfPolicyTest, AWorkerThatCostsMoreThanItContributesIsExcluded) {
  what_if.takes = {{"without:workers=1:policy=near", ms(500)}};
  begin();
  world->times_slower[1] = 10;
  submit();
  close();
  EXPECT_EQ(policy->active_policy(), "without:workers=1:policy=near");
  EXPECT_EQ(world->pick(1), "-");
  EXPECT_EQ(world->pick(0), "T199");  // would be worker 1's
}

// They are equally fast, but the other one transfers more.
TEST_F(WhatIfPolicyTest, IfDataExceedTheMemoriesThePolicyWithTheFewestTransfersIsSelected) {
  what_if.takes = {{"darts", ms(990)}};
  for (const bool exceed : {false, true}) {
    begin("what-if:first=near");
    if (exceed) world->sizes["D0"] = Bytes{1} << 42;
    submit();
    close();
    EXPECT_EQ(policy->active_policy(), exceed ? "blocks" : "darts");
    submitted = 0;
  }
}

// A later change has a cost: the first policy has placed data.
TEST_F(WhatIfPolicyTest, ASlightlyBetterPolicyIsSelectedOnlyBeforeTasksRun) {
  what_if.takes = {{"darts", ms(990)}};
  for (const bool waits : {false, true}) {
    submitted = 0;
    begin(waits ? "what-if:first=near" : "what-if:first=near:off=wait");
    submit();
    policy->horizon_closed();
    while (what_if.judge) finish_simulation();
    EXPECT_EQ(policy->active_policy(), waits ? "darts" : "near");
  }
}

// 200 tasks that take 9 s in the simulation: progress is compared after an eighth and a little more. A simulation that
// started as slowly is no reason to repeat it.
TEST_F(WhatIfPolicyTest, ALateRunIsSimulatedAgain) {
  for (const bool late : {false, true})
    for (const bool may : {true, false}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(late)) + std::to_string(static_cast<int>(may)));
      for (const bool begins_slowly : {true, false}) {
        submitted = 0;
        what_if.begins_slowly = begins_slowly;
        what_if.takes = {{"near", ms(9000)}};
        what_if.others = ms(10'000);
        begin(may ? "what-if" : "what-if:off=repeat");
        submit();
        close();
        ASSERT_EQ(policy->active_policy(), "near");
        what_if.takes = {{"blocks", ms(3000)}};
        for (int i = 0; i < 30 && !what_if.judge; ++i) {
          const std::string name = world->pick(0);
          world->now_ms += late ? 60 : 45;
          world->finish(name, 0);
        }
        const bool again = late && may && !begins_slowly;
        ASSERT_EQ(static_cast<bool>(what_if.judge), again);
        EXPECT_FALSE(policy->awaits_simulation());  // the other tasks continue
        while (what_if.judge) finish_simulation();
        EXPECT_EQ(policy->active_policy(), again ? "blocks" : "near");
      }
    }
}

// With one worker there is no choice of workers.
TEST_F(WhatIfPolicyTest, EquivalentCandidatesAreSimulatedOnce) {
  begin("what-if", 1);
  submit();
  close();
  EXPECT_TRUE(what_if.simulations.contains("near"));
  EXPECT_FALSE(what_if.simulations.contains("nearer"));
  EXPECT_FALSE(what_if.simulations.contains("dmdas"));
}

// It never delays or shortens the simulations of the other candidates.
TEST_F(WhatIfPolicyTest, OwnerLoadIsSimulatedOnlyIfAllSevenFitTheWaitBudget) {
  std::vector<std::size_t> counts;  // of simulations while workers wait; a smaller budget has fewer
  for (double share = 0.01; share > 0.0001; share *= 0.95) {
    submitted = 0;
    what_if.simulations.clear();
    begin(("what-if:share=" + std::to_string(share)).c_str());
    submit();
    policy->horizon_closed();
    if (!policy->awaits_simulation()) break;
    finish_simulation();
    EXPECT_EQ(what_if.simulations.contains("owner-load"), what_if.simulations.size() == 7) << share;
    if (counts.empty() || counts.back() != what_if.simulations.size())
      counts.push_back(what_if.simulations.size());
    while (what_if.judge) finish_simulation();
  }
  ASSERT_GE(counts.size(), 2u);
  EXPECT_EQ(std::vector(counts.begin(), counts.begin() + 2), (std::vector<std::size_t>{7, 6}));
}

TEST_F(WhatIfPolicyTest, EqualWorkersAreNotExcluded) {
  begin("what-if", 3);
  submit();
  close();
  EXPECT_EQ(what_if.simulations.size(), 7u);
}

// At once if the run is so long that one more simulation fits the wait budget.
TEST_F(WhatIfPolicyTest, HalfOfManyEqualWorkersMayBeExcludedAtOnce) {
  const std::string without = "without:workers=2+3:policy=blocks";
  what_if.takes = {{"blocks", ms(250)}, {without, ms(150)}};
  begin("what-if", 4);
  submit();
  policy->horizon_closed();
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), without);
  EXPECT_EQ(world->pick(2), "-");
  EXPECT_NE(world->pick(0), "-");
}

// Otherwise after the policy has been selected.
TEST_F(WhatIfPolicyTest, HalfOfManyEqualWorkersMayBeExcluded) {
  const std::string without = "without:workers=2+3:policy=blocks";
  what_if.takes = {{"blocks", ms(190)}, {without, ms(150)}};
  begin("what-if", 4);
  submit();
  policy->horizon_closed();
  EXPECT_TRUE(policy->awaits_simulation());
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_FALSE(policy->awaits_simulation());
  EXPECT_FALSE(what_if.simulations.contains(without));
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "blocks");  // until it is confirmed
  EXPECT_EQ(what_if.simulations["darts"], 1);
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), without);
}

// Six simulations of 200 tasks take less than 2 % of the expected time, seven take more, also of the best policy's time.
TEST_F(WhatIfPolicyTest, FewerWorkersAreTriedLaterIfOneMoreSimulationExceedsTheWaitBudget) {
  const std::string without = "without:workers=1:policy=blocks";
  what_if.takes = {{"blocks", ms(190)}, {without, ms(150)}};
  for (const double task_ms : {3.3, 2.8}) {
    what_if.all = ms(200 * task_ms);
    what_if.simulations.clear();
    begin("what-if", 3);
    world->times_slower[1] = 10;
    submit(task_ms);
    policy->horizon_closed();
    EXPECT_TRUE(policy->awaits_simulation()) << task_ms;
    while (what_if.judge && policy->active_policy() == "near") finish_simulation();
    EXPECT_EQ(policy->active_policy(), task_ms > 3 ? without : "blocks") << task_ms;
    while (what_if.judge) finish_simulation();
    EXPECT_EQ(policy->active_policy(), without) << task_ms;
    submitted = 0;
  }
}

// 200 tasks of a microsecond, whose transfers take two seconds.
TEST_F(WhatIfPolicyTest, TransfersCountForTheExpectedTime) {
  what_if.takes = {{"blocks", ms(500)}};
  what_if.all = ms(200 * 0.001);
  begin();
  world->from_host_ms = 10;
  submit(0.001);
  close();
  EXPECT_EQ(policy->active_policy(), "blocks");
}

TEST_F(WhatIfPolicyTest, AResultForFinishedTasksIsIgnored) {
  what_if.takes = {{"blocks", ms(500)}};
  begin();
  submit();
  policy->horizon_closed();
  for (int i = 0; i < 200; ++i) {
    const std::string name = world->take_any(0);
    ASSERT_NE(name, "-");
    world->finish(name, 0);
  }
  EXPECT_TRUE(what_if.given_up);
  submit();
  policy->horizon_closed();  // the last simulation has not finished
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "near");
  ASSERT_TRUE(what_if.judge);  // the next simulation has started
  finish_simulation();
  EXPECT_EQ(policy->active_policy(), "blocks");
}

// From another version, or from a damaged log.
TEST_F(WhatIfPolicyTest, AnInvalidFindingChangesNothing) {
  begin();
  submit();
  policy->horizon_closed();
  policy->simulation_finished(std::uint64_t{1} << 60);
  EXPECT_EQ(first_three(), (Names{"T198", "T196", "T194"}));
}

// 200 tasks of 100 ms on two workers take 10 s: workers wait for at most 2 % of that.
TEST_F(WhatIfPolicyTest, AProgramThatSubmitsSlowlyIsNotDelayed) {
  begin();
  submit();
  world->now_ms = 199;
  EXPECT_EQ(world->pick(0), "-");
  world->now_ms = 201;
  EXPECT_NE(world->pick(0), "-");
}

TEST_F(WhatIfPolicyTest, ShortProgramsAreNotSimulated) {
  what_if.takes = {{"blocks", ms(500)}};
  begin();
  submit(0.001);
  close();
  EXPECT_TRUE(what_if.simulations.empty());
  EXPECT_EQ(first_three(), (Names{"T198", "T196", "T194"}));
}

TEST_F(WhatIfPolicyTest, TasksOfUnknownDurationAreNotSimulated) {
  begin();
  world->unknown_on = {0, 1};
  submit();
  close();
  EXPECT_TRUE(what_if.simulations.empty());
}

// Simulating all under six policies would take more than a tenth of the expected time: a part is simulated, then the two
// best policies.
TEST_F(WhatIfPolicyTest, APartialSimulationMustShowALargerGain) {
  what_if.all = ms(1200 * 0.1);
  what_if.others = ms(60);
  for (const auto& [takes, expected] :
       {std::pair{ms(57), Names{"T1198", "T1196", "T1194"}}, std::pair{ms(30), Names{"T0", "T1", "T2"}}}) {
    what_if.takes = {{"blocks", takes}};
    what_if.simulations.clear();
    submitted = 0;
    begin("what-if:within=0.1");
    submit(0.1, 1200);
    close();
    EXPECT_LT(what_if.least_part, 1);
    EXPECT_EQ(first_three(), expected);
  }
}

// Estimates improve each time; as many tasks on other data are another program.
TEST_F(WhatIfPolicyTest, ARepeatedProgramIsNotSimulatedAgain) {
  struct Second {
    double task_ms;
    int tasks, data;
    bool same;
  };
  for (const Second& second : {Second{100, 200, 200, true},
                               {115, 200, 200, true},
                               {140, 200, 200, false},
                               {100, 150, 200, false},
                               {100, 200, 100, false}}) {
    SCOPED_TRACE(second.task_ms * second.tasks + second.data);
    what_if.simulations.clear();
    begin();
    submit();
    close();
    ASSERT_EQ(what_if.simulations.count("near"), 1u);
    const int before = what_if.simulations.at("near");
    for (int i = 0; i < 200; ++i) {
      const std::string name = world->take_any(0);
      ASSERT_NE(name, "-");
      world->finish(name, 0);
    }
    submit(second.task_ms, second.tasks, second.data);
    close();
    EXPECT_EQ(what_if.simulations.at("near") == before, second.same);
    EXPECT_NE(world->pick(0), "-");
  }
}

// Each of two alternating phases gets the policy found for it.
TEST_F(WhatIfPolicyTest, AlternatingPhasesAreSimulatedOnceEach) {
  begin();
  const auto turn = [&](int data, const char* best) {
    SCOPED_TRACE(best);
    what_if.simulations.clear();
    what_if.takes = {{best, ms(500)}};
    const int first = submitted;
    submit(100, 200, data);
    close();
    EXPECT_EQ(policy->active_policy(), best);
    const bool simulated = !what_if.simulations.empty();
    for (int i = first; i < submitted; ++i) {
      const std::string name = world->take_any(0);
      EXPECT_NE(name, "-");
      world->finish(name, 0);
    }
    return simulated;
  };
  EXPECT_TRUE(turn(200, "blocks"));
  EXPECT_TRUE(turn(100, "darts"));
  EXPECT_FALSE(turn(200, "blocks"));
  EXPECT_FALSE(turn(100, "darts"));
}

// near is the best for the last part, blocks for the whole program: blocks is the policy of the next run.
TEST_F(WhatIfPolicyTest, AResultForTheRestIsNotReusedForTheWholeProgram) {
  what_if.takes = {{"blocks", ms(9000)}};
  what_if.others = ms(10'000);
  begin();
  submit();
  close();
  ASSERT_EQ(policy->active_policy(), "blocks");
  what_if.takes = {{"near", ms(3000)}};
  while (!what_if.judge) {
    const std::string name = world->take_any(0);
    ASSERT_NE(name, "-") << "it was never late";
    world->now_ms += 80;
    world->finish(name, 0);
  }
  while (what_if.judge) finish_simulation();
  EXPECT_EQ(policy->active_policy(), "near");
  for (std::string name; (name = world->take_any(0)) != "-";) world->finish(name, 0);
  what_if.simulations.clear();
  submit();
  close();
  EXPECT_TRUE(what_if.simulations.empty());
  EXPECT_EQ(policy->active_policy(), "blocks");
}

TEST_F(WhatIfPolicyTest, TheSuccessorIsNotifiedOfResidentData) {
  what_if.takes = {{"darts", ms(500)}};
  begin("what-if", 1);
  world->load("D7", node(0));
  submit();
  close();
  EXPECT_EQ(world->pick(0), "T7");
}

TEST_F(WhatIfPolicyTest, WithoutSimulationsTheFirstPolicyContinues) {
  begin("what-if", 1, WorkerKind::cpu);
  EXPECT_EQ(policy->active_policy(), "blocks");
  begin();
  EXPECT_EQ(policy->active_policy(), "near");
  begin("what-if:first=ap");
  world->played_by = nullptr;
  submit();
  close();
  EXPECT_EQ(first_three(), (Names{"T199", "T198", "T197"}));
  EXPECT_THROW(make_policy("what-if:first=what-if"), ConfigError);
  EXPECT_THROW(make_policy("what-if:first=best"), ConfigError);
}

}  // namespace fairlead::schedule
