// Which policy is taken, when, and how one goes on where another stops. What playing would find is made up.
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

/// Says what it is told to say, when it is told to, and remembers what it was asked.
class MadeUp final : public WhatIfSimulation, public Simulator {
 public:
  void cancel() noexcept override { given_up = true; }
  std::vector<SimulationOutcome> simulate(std::span<const std::string> policies, Duration enough,
                                          Duration patience) override {
    const double part = static_cast<double>(enough.count()) / static_cast<double>(all.count());
    least_part = std::min(least_part, part);
    std::vector<SimulationOutcome> all_played;
    for (const std::string& policy : policies) {
      ++plays[policy];
      const Duration whole = takes.contains(policy) ? takes.at(policy) : others;
      const Duration time(static_cast<std::int64_t>(static_cast<double>(whole.count()) * part));
      all_played.push_back(
          {time > patience ? Duration::max() : time, {first_quarter(time), time / 2, 3 * time / 4}});
    }
    return all_played;
  }
  std::size_t idle_cores() const noexcept override { return idle; }
  std::size_t idle = 1;
  std::map<std::string, Duration> takes;
  Duration others = ms(1000);
  bool begins_slowly = false;
  Duration all = ms(200 * 100);  // the work of what is submitted
  std::map<std::string, int> plays;
  std::size_t tasks_played = 0;
  double least_part = 1;
  Evaluation judge;  // of what was begun and is not over
  bool given_up = false;

 private:
  Duration first_quarter(Duration time) const { return begins_slowly ? 2 * time / 5 : time / 4; }
  void capture(std::span<Task* const> tasks, Evaluation asked) override {
    tasks_played = tasks.size();
    judge = std::move(asked);
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
  /// The flow waits, and what is played then is over at once.
  void close() {
    policy->horizon_closed();
    while (what_if.judge) tell_over();
  }
  void tell_over() {
    const std::uint64_t finding = std::exchange(what_if.judge, nullptr)(what_if);
    what_if.note_finished();
    policy->simulation_finished(finding);
  }
  /// 2,000 tasks of 50 microseconds, 50 ms in all if the policy says nothing else: playing them takes too long for all to wait.
  void begin_what_plays_are_long_for() {
    what_if.others = ms(50);
    what_if.all = ms(2000 * 0.05);
    begin("what-if:within=1");
    submit(0.05, 2000);
    policy->horizon_closed();
  }
  /// In which order worker 0 gets some, all data at hand.
  Names first_three() {
    Names names;
    for (int i = 0; i < 3; ++i) names.push_back(world->pick(0));
    return names;
  }
  MadeUp what_if;
  std::optional<FakeWorld> world;
  std::unique_ptr<Policy> policy;
  int submitted = 0;
};

}  // namespace

TEST_F(WhatIfPolicyTest, TheOneThatIsOverFirstGoesOn) {
  what_if.takes = {{"blocks", ms(500)}};
  begin();
  submit();
  close();
  EXPECT_EQ(what_if.tasks_played, 200u);
  EXPECT_EQ(what_if.plays.size(), 7u);
  EXPECT_EQ(what_if.least_part, 1);
  // In the order of the program; near would take what is most urgent.
  EXPECT_EQ(first_three(), (Names{"T0", "T1", "T2"}));
}

TEST_F(WhatIfPolicyTest, NobodyBeginsBeforeItIsDecidedUnlessNothingRuns) {
  begin();
  submit();
  EXPECT_EQ(world->pick(0), "-");
  EXPECT_EQ(world->pick(1), "-");
  EXPECT_NE(world->take_any(0), "-");
  close();
  EXPECT_NE(world->pick(0), "-");
}

// Playing 200 tasks six times takes 3 ms or so, and they may wait for 500. They do until it is told what was found.
TEST_F(WhatIfPolicyTest, WhileItIsPlayedNobodyBeginsIfThatIsSoonOver) {
  what_if.takes = {{"blocks", ms(500)}};
  begin();
  submit();
  policy->horizon_closed();
  EXPECT_TRUE(what_if.judge);
  EXPECT_EQ(world->pick(0), "-");
  tell_over();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_EQ(world->pick(0), "T0");
}

// 2,000 tasks of 50 microseconds on two workers take 50 ms, and playing them takes 30.
TEST_F(WhatIfPolicyTest, WhileItIsPlayedTheFirstPolicyGoesOnIfThatTakesLong) {
  what_if.takes = {{"blocks", ms(35)}};
  begin_what_plays_are_long_for();
  ASSERT_TRUE(what_if.judge);  // for a glance
  EXPECT_EQ(world->pick(0), "T1998");
  world->finish("T1998", 0);
  tell_over();
  EXPECT_EQ(policy->active_policy(), "near");
  ASSERT_TRUE(what_if.judge);  // for the same from where things are now
  EXPECT_EQ(what_if.tasks_played, 1999u);
  tell_over();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_EQ(first_three(), (Names{"T0", "T1", "T2"}));
}

// Not even for a part of one.
TEST_F(WhatIfPolicyTest, IfAllTakeLongNobodyWaits) {
  what_if.takes = {{"blocks", ms(45)}, {"darts", ms(25)}};
  what_if.others = ms(50);
  what_if.all = ms(2000 * 0.05);
  begin("what-if:within=1");
  submit(0.05, 2000);
  policy->horizon_closed();
  EXPECT_EQ(world->pick(0), "T1998");
  ASSERT_TRUE(what_if.judge);  // while they run
  while (what_if.judge) tell_over();
  EXPECT_EQ(policy->active_policy(), "darts");
}

// 2,000 tasks of 50 microseconds, on which nobody can wait: a plan of reuse begins, unless the data take longer to come than
// all computing. A glance would say too little of data that come again and again.
TEST_F(WhatIfPolicyTest, WhereDataExceedTheMemoriesWhatLimitsSaysWhoBegins) {
  for (const bool ways_limit : {false, true}) {
    submitted = 0;
    what_if.plays.clear();
    what_if.others = ms(50);
    what_if.all = ms(2000 * 0.05);
    begin("what-if:share=0:within=1:off=quick-check");
    world->sizes["D0"] = Bytes{1} << 42;
    if (ways_limit) world->from_host_ms = 1;
    submit(0.05, 2000);
    policy->horizon_closed();
    EXPECT_EQ(policy->active_policy(), ways_limit ? "darts" : "blocks");
    ASSERT_TRUE(what_if.judge);
    tell_over();
    EXPECT_EQ(what_if.plays.size(), 6u);
    EXPECT_EQ(what_if.plays.at("dmdas"), 1);
  }
}

// Of a part it is not known how often they come.
TEST_F(WhatIfPolicyTest, WhereDataExceedTheMemoriesAGlanceIsAtAllOrNothing) {
  for (const bool all : {false, true}) {
    submitted = 0;
    what_if.plays.clear();
    what_if.others = ms(50);
    what_if.all = ms(2000 * 0.2);
    what_if.takes = {{"near", ms(40)}};
    begin(all ? "what-if:share=0:within=1" : "what-if:share=0");
    world->sizes["D0"] = Bytes{1} << 42;
    submit(0.2, 2000);
    policy->horizon_closed();
    tell_over();
    EXPECT_EQ(what_if.plays.contains("dmdas"), !all);
    EXPECT_EQ(policy->active_policy(), "blocks");
    if (all) {
      tell_over();  // from where things are now, too
      EXPECT_EQ(policy->active_policy(), "near");
      EXPECT_TRUE(what_if.judge);
    }
    while (what_if.judge) tell_over();
    EXPECT_TRUE(what_if.plays.contains("dmdas"));
  }
}

TEST_F(WhatIfPolicyTest, WhatDoesNotHoldFromWhereThingsAreNowIsNotTaken) {
  for (const char* better : {"blocks", "darts"}) {  // in a glance, and when all are played
    SCOPED_TRACE(better);
    submitted = 0;
    what_if.takes = {{better, ms(35)}};
    begin_what_plays_are_long_for();
    tell_over();
    if (what_if.takes.contains("darts")) tell_over();
    what_if.takes = {{better, ms(60)}};
    tell_over();
    EXPECT_EQ(policy->active_policy(), "near");
    while (what_if.judge) tell_over();
    EXPECT_EQ(policy->active_policy(), "near");
  }
}

// Playing all takes 31 ms: too long to wait for, if it takes no longer than expected, which an eighth of it tells.
TEST_F(WhatIfPolicyTest, WhetherPlaysAreSoonOverIsSeenFromAPartOfOne) {
  what_if.all = ms(2000 * 0.05);
  for (const bool as_expected : {false, true}) {
    what_if.others = as_expected ? ms(50) : ms(500);
    what_if.takes = {{"darts", what_if.others / 2}};
    what_if.plays.clear();
    what_if.least_part = 1;
    begin("what-if:share=0.15:within=1:off=quick-check");
    submit(0.05, 2000);
    policy->horizon_closed();
    EXPECT_TRUE(policy->awaits_simulation());
    EXPECT_EQ(world->pick(0), "-");
    tell_over();
    EXPECT_EQ(what_if.least_part, 1.0 / 8);
    EXPECT_FALSE(policy->awaits_simulation());
    EXPECT_EQ(policy->active_policy(), as_expected ? "near" : "darts");
    EXPECT_EQ(what_if.plays.contains("darts"), !as_expected);
    EXPECT_NE(world->pick(0), "-");
    while (what_if.judge) tell_over();
    EXPECT_EQ(policy->active_policy(), "darts");
    submitted = 0;
  }
}

// Who is quite wrong does not go on until all is known.
TEST_F(WhatIfPolicyTest, AGlanceIsEnoughToSeeThatThePresentOneIsFarOff) {
  what_if.takes = {{"near", ms(500)}, {"darts", ms(40)}};
  begin_what_plays_are_long_for();
  tell_over();
  EXPECT_LT(what_if.least_part, 0.5);
  tell_over();
  EXPECT_EQ(policy->active_policy(), "blocks");
  while (what_if.judge) tell_over();
  EXPECT_EQ(policy->active_policy(), "darts");
}

TEST_F(WhatIfPolicyTest, WhatIsLeftOutIsNotPlayed) {
  what_if.takes = {{"blocks", ms(500)}, {"darts", ms(400)}};
  begin("what-if:off=darts+nearer");
  submit();
  close();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_EQ(what_if.plays.size(), 5u);
  EXPECT_FALSE(what_if.plays.contains("darts"));
  EXPECT_THROW(make_policy("what-if:off=dart"), ConfigError);
}

TEST_F(WhatIfPolicyTest, IdeasCanBeLeftOut) {
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
  tell_over();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_FALSE(what_if.judge);
}

// Worker 1 takes ten times as long, and whoever uses it is over later.
TEST_F(WhatIfPolicyTest, WhoCostsMoreThanItBringsIsLeftOut) {
  what_if.takes = {{"without:workers=1:policy=near", ms(500)}};
  begin();
  world->times_slower[1] = 10;
  submit();
  close();
  EXPECT_EQ(policy->active_policy(), "without:workers=1:policy=near");
  EXPECT_EQ(world->pick(1), "-");
  EXPECT_EQ(world->pick(0), "T199");  // that would have been worker 1's
}

// They are equally fast, but the links would carry more.
TEST_F(WhatIfPolicyTest, WhereDataExceedTheMemoriesTheOneThatMovesLeastIsTaken) {
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

// A change later costs what the first one has begun.
TEST_F(WhatIfPolicyTest, WhoIsALittleBetterIsTakenWhereNobodyHasBegun) {
  what_if.takes = {{"darts", ms(990)}};
  for (const bool waits : {false, true}) {
    submitted = 0;
    begin(waits ? "what-if:first=near" : "what-if:first=near:off=wait");
    submit();
    policy->horizon_closed();
    while (what_if.judge) tell_over();
    EXPECT_EQ(policy->active_policy(), waits ? "darts" : "near");
  }
}

// 200 tasks that take 9 s in the play: after an eighth and a little more it is seen whether they do. Where the play began as
// slowly, that is no reason.
TEST_F(WhatIfPolicyTest, WhatTakesLongerThanWasPlayedIsPlayedOnceMore) {
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
        EXPECT_FALSE(policy->awaits_simulation());  // others go on meanwhile
        while (what_if.judge) tell_over();
        EXPECT_EQ(policy->active_policy(), again ? "blocks" : "near");
      }
    }
}

// With one worker there is nobody to choose among.
TEST_F(WhatIfPolicyTest, WhatWouldBeTheSamePlayTwiceIsPlayedOnce) {
  begin("what-if", 1);
  submit();
  close();
  EXPECT_TRUE(what_if.plays.contains("near"));
  EXPECT_FALSE(what_if.plays.contains("nearer"));
  EXPECT_FALSE(what_if.plays.contains("dmdas"));
}

// So that for its sake the others are never played later, or less.
TEST_F(WhatIfPolicyTest, OwnerLoadIsPlayedOnlyWhereAllSevenAreSoonOver) {
  std::vector<std::size_t> played;  // while all wait; the less they may, the fewer
  for (double share = 0.01; share > 0.0001; share *= 0.95) {
    submitted = 0;
    what_if.plays.clear();
    begin(("what-if:share=" + std::to_string(share)).c_str());
    submit();
    policy->horizon_closed();
    if (!policy->awaits_simulation()) break;
    tell_over();
    EXPECT_EQ(what_if.plays.contains("owner-load"), what_if.plays.size() == 7) << share;
    if (played.empty() || played.back() != what_if.plays.size()) played.push_back(what_if.plays.size());
    while (what_if.judge) tell_over();
  }
  ASSERT_GE(played.size(), 2u);
  EXPECT_EQ(std::vector(played.begin(), played.begin() + 2), (std::vector<std::size_t>{7, 6}));
}

TEST_F(WhatIfPolicyTest, WhereAllAreAlikeNobodyIsLeftOut) {
  begin("what-if", 3);
  submit();
  close();
  EXPECT_EQ(what_if.plays.size(), 7u);
}

// At once if the best takes so long that one more play is soon over.
TEST_F(WhatIfPolicyTest, HalfOfManyWhoAreAlikeMayBeLeftOutAtOnce) {
  const std::string without = "without:workers=2+3:policy=blocks";
  what_if.takes = {{"blocks", ms(250)}, {without, ms(150)}};
  begin("what-if", 4);
  submit();
  policy->horizon_closed();
  tell_over();
  EXPECT_EQ(policy->active_policy(), without);
  EXPECT_EQ(world->pick(2), "-");
  EXPECT_NE(world->pick(0), "-");
}

// When it is decided which one goes on.
TEST_F(WhatIfPolicyTest, HalfOfManyWhoAreAlikeMayBeLeftOut) {
  const std::string without = "without:workers=2+3:policy=blocks";
  what_if.takes = {{"blocks", ms(190)}, {without, ms(150)}};
  begin("what-if", 4);
  submit();
  policy->horizon_closed();
  EXPECT_TRUE(policy->awaits_simulation());
  tell_over();
  EXPECT_EQ(policy->active_policy(), "blocks");
  EXPECT_FALSE(policy->awaits_simulation());
  EXPECT_FALSE(what_if.plays.contains(without));
  tell_over();
  EXPECT_EQ(policy->active_policy(), "blocks");  // until it is confirmed
  EXPECT_EQ(what_if.plays["darts"], 1);
  tell_over();
  EXPECT_EQ(policy->active_policy(), without);
}

// Six plays of 200 tasks take less than 2 % of the time of all, seven take more: also of the time that the best takes.
TEST_F(WhatIfPolicyTest, WithoutTheWorstIsPlayedAfterwardsIfNobodyWouldWaitOtherwise) {
  const std::string without = "without:workers=1:policy=blocks";
  what_if.takes = {{"blocks", ms(190)}, {without, ms(150)}};
  for (const double task_ms : {3.3, 2.8}) {
    what_if.all = ms(200 * task_ms);
    what_if.plays.clear();
    begin("what-if", 3);
    world->times_slower[1] = 10;
    submit(task_ms);
    policy->horizon_closed();
    EXPECT_TRUE(policy->awaits_simulation()) << task_ms;
    while (what_if.judge && policy->active_policy() == "near") tell_over();
    EXPECT_EQ(policy->active_policy(), task_ms > 3 ? without : "blocks") << task_ms;
    while (what_if.judge) tell_over();
    EXPECT_EQ(policy->active_policy(), without) << task_ms;
    submitted = 0;
  }
}

// 200 tasks of a microsecond, whose data take two seconds to come.
TEST_F(WhatIfPolicyTest, WhatWaitsForDataTakesAsLongAsThese) {
  what_if.takes = {{"blocks", ms(500)}};
  what_if.all = ms(200 * 0.001);
  begin();
  world->from_host_ms = 10;
  submit(0.001);
  close();
  EXPECT_EQ(policy->active_policy(), "blocks");
}

TEST_F(WhatIfPolicyTest, WhatIsFoundTooLateIsOfNoUse) {
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
  policy->horizon_closed();  // the last one is not over yet
  tell_over();
  EXPECT_EQ(policy->active_policy(), "near");
  ASSERT_TRUE(what_if.judge);  // the next one has begun
  tell_over();
  EXPECT_EQ(policy->active_policy(), "blocks");
}

// Another version's, or nonsense in a log.
TEST_F(WhatIfPolicyTest, AFindingThatNamesNobodyChangesNothing) {
  begin();
  submit();
  policy->horizon_closed();
  policy->simulation_finished(std::uint64_t{1} << 60);
  EXPECT_EQ(first_three(), (Names{"T198", "T196", "T194"}));
}

// 200 tasks of 100 ms on two workers take 10 s: for 2 % of that.
TEST_F(WhatIfPolicyTest, AProgramThatSubmitsSlowlyIsNotHeldUp) {
  begin();
  submit();
  world->now_ms = 199;
  EXPECT_EQ(world->pick(0), "-");
  world->now_ms = 201;
  EXPECT_NE(world->pick(0), "-");
}

TEST_F(WhatIfPolicyTest, WhatIsTooShortIsNotPlayed) {
  what_if.takes = {{"blocks", ms(500)}};
  begin();
  submit(0.001);
  close();
  EXPECT_TRUE(what_if.plays.empty());
  EXPECT_EQ(first_three(), (Names{"T198", "T196", "T194"}));
}

TEST_F(WhatIfPolicyTest, WhatNobodyKnowsTheDurationOfIsNotPlayed) {
  begin();
  world->unknown_on = {0, 1};
  submit();
  close();
  EXPECT_TRUE(what_if.plays.empty());
}

// Playing them all under six policies would take more than a tenth of their time, so that a part is played; then the two
// best ones.
TEST_F(WhatIfPolicyTest, OfAPartItHasToBeBetterByMore) {
  what_if.all = ms(1200 * 0.1);
  what_if.others = ms(60);
  for (const auto& [takes, expected] :
       {std::pair{ms(57), Names{"T1198", "T1196", "T1194"}}, std::pair{ms(30), Names{"T0", "T1", "T2"}}}) {
    what_if.takes = {{"blocks", takes}};
    what_if.plays.clear();
    submitted = 0;
    begin("what-if:within=0.1");
    submit(0.1, 1200);
    close();
    EXPECT_LT(what_if.least_part, 1);
    EXPECT_EQ(first_three(), expected);
  }
}

// Durations are known better each time; what is as many tasks on other data is another program.
TEST_F(WhatIfPolicyTest, TheSameOnceMoreIsNotPlayedAgain) {
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
    what_if.plays.clear();
    begin();
    submit();
    close();
    ASSERT_EQ(what_if.plays.count("near"), 1u);
    const int before = what_if.plays.at("near");
    for (int i = 0; i < 200; ++i) {
      const std::string name = world->take_any(0);
      ASSERT_NE(name, "-");
      world->finish(name, 0);
    }
    submit(second.task_ms, second.tasks, second.data);
    close();
    EXPECT_EQ(what_if.plays.at("near") == before, second.same);
    EXPECT_NE(world->pick(0), "-");
  }
}

// What a program does in turns: each has the policy that was found for it.
TEST_F(WhatIfPolicyTest, EachOfWhatComesInTurnsIsPlayedOnce) {
  begin();
  const auto turn = [&](int data, const char* best) {
    SCOPED_TRACE(best);
    what_if.plays.clear();
    what_if.takes = {{best, ms(500)}};
    const int first = submitted;
    submit(100, 200, data);
    close();
    EXPECT_EQ(policy->active_policy(), best);
    const bool played = !what_if.plays.empty();
    for (int i = first; i < submitted; ++i) {
      const std::string name = world->take_any(0);
      EXPECT_NE(name, "-");
      world->finish(name, 0);
    }
    return played;
  };
  EXPECT_TRUE(turn(200, "blocks"));
  EXPECT_TRUE(turn(100, "darts"));
  EXPECT_FALSE(turn(200, "blocks"));
  EXPECT_FALSE(turn(100, "darts"));
}

// Of the last part near is the best, and of all of it blocks: next time that begins.
TEST_F(WhatIfPolicyTest, WhatIsFoundForTheRestIsNotTakenForAllTheNextTime) {
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
  while (what_if.judge) tell_over();
  EXPECT_EQ(policy->active_policy(), "near");
  for (std::string name; (name = world->take_any(0)) != "-";) world->finish(name, 0);
  what_if.plays.clear();
  submit();
  close();
  EXPECT_TRUE(what_if.plays.empty());
  EXPECT_EQ(policy->active_policy(), "blocks");
}

TEST_F(WhatIfPolicyTest, WhoTakesOverKnowsWhatIsWhere) {
  what_if.takes = {{"darts", ms(500)}};
  begin("what-if", 1);
  world->load("D7", node(0));
  submit();
  close();
  EXPECT_EQ(world->pick(0), "T7");
}

TEST_F(WhatIfPolicyTest, WhereNobodyCanPlayTheFirstPolicyGoesOn) {
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
