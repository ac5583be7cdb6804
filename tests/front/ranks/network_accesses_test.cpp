// Accesses of the network: the thread that serves the engine reports completions and grants, possibly late.
// Until then the records remain and are not reused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "front/ranks/network_accesses.hpp"
#include "schedule/policies.hpp"

namespace fairlead::front {
namespace {

using testing::ElementsAre;

/// Another thread serves the engine and reports grants when the test calls it.
class RankAccessesTest : public testing::Test {
 protected:
  RankAccessesTest() {
    core_.register_datum(datum_, {.bytes = 4096, .home = core_.topology().store()});
    datum_.ever_written = true;
  }
  static engine::CoreOptions options() {
    engine::CoreOptions options;
    options.topology = out_of_core_topology(1, Bytes{1} << 20, 1e9, Duration{});
    options.policy = schedule::make_policy("eager");
    options.engine.check_invariants = true;
    return options;
  }
  void ask(std::uint64_t name) { accesses_.request_hold(name, {.id = datum_.id}, AccessMode::read); }
  /// Runs `f` while the engine is locked; then the other thread serves the engine.
  template <class F>
  engine::Commands served_elsewhere(F&& f) {
    {
      const engine::EventQueue::Guard guard(core_.engine().entrance());
      f();
    }
    engine::Commands heard;
    EventChain nothing;
    core_.engine().entrance().enter_blocking(nothing, heard);
    return heard;
  }
  void report_grants(const engine::Commands& heard) {
    for (Task* hold : heard.granted) hold->source()->granted(*hold);
    core_.engine().deliveries_done(heard.granted.size());
  }

  backend::SimWorld world_{{}};
  engine::RuntimeCore core_{options(), world_};
  engine::RegisteredDatum datum_;
  std::vector<std::uint64_t> granted_;
  NetworkAccesses accesses_{core_, TaskRole::hold,
                            [this](std::uint64_t name, const net::ValueMemory&) { granted_.push_back(name); },
                            [](const std::string& why) { FAIL() << why; }};
};

TEST_F(RankAccessesTest, EndWhenTheEngineIsNotified) {
  ask(1);
  core_.wait_until([&] { return !granted_.empty(); });
  EXPECT_THAT(granted_, ElementsAre(1));
  EXPECT_FALSE(accesses_.none());
  accesses_.release(1);
  EXPECT_TRUE(accesses_.none());
}

TEST_F(RankAccessesTest, RemainUntilTheirCompletionsAreCounted) {
  ask(1);
  core_.wait_until([&] { return !granted_.empty(); });
  const engine::Commands heard = served_elsewhere([&] { accesses_.release(1); });
  ASSERT_EQ(heard.completions.size(), 1u);
  EventChain described;
  ReadyTasks ready(core_.application().recycler(), described, 0);
  accesses_.release(*heard.completions[0], ready);
  EXPECT_FALSE(accesses_.none()) << "its completion is not counted yet";
  accesses_.count(1, core_.application().recycler());
  EXPECT_TRUE(accesses_.none());
  core_.engine().deliveries_done(1);
}

TEST_F(RankAccessesTest, ALateGrantIsNotAttributedToAnotherAccess) {
  ask(1);  // the datum comes from disk
  core_.wait_until([&] { return !granted_.empty(); });
  granted_.clear();
  const engine::Commands heard = served_elsewhere([&] { ask(2); });
  ASSERT_EQ(heard.granted.size(), 1u);
  accesses_.release(2);
  accesses_.release(1);
  EXPECT_FALSE(accesses_.none()) << "the second grant is not reported yet";
  ask(3);
  EXPECT_THAT(granted_, ElementsAre(3));
  report_grants(heard);
  EXPECT_THAT(granted_, ElementsAre(3));
  EXPECT_FALSE(accesses_.none());
  accesses_.release(3);
  EXPECT_TRUE(accesses_.none());
}

}  // namespace
}  // namespace fairlead::front
