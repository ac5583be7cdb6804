// A wait updates the program's own memory, or throws the reason why it cannot.
#include "engine/home_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/error.hpp>

#include "front/flow/flow_source.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {
namespace {

/// A device that cannot use user memory in place.
engine::CoreOptions with_device() {
  engine::CoreOptions options{.topology = out_of_core_topology(1, 16_MiB, 1e9, Duration{}),
                              .policy = schedule::make_policy("eager"),
                              .engine = {}};
  add_device(options.topology, {.name = "device",
                                .kind = WorkerKind::emulated,
                                .capacity = 16_MiB,
                                .bytes_per_second = 1e9,
                                .latency = Duration(1000),
                                .workers = 1});
  return options;
}

class HomeValues : public testing::Test {
 protected:
  HomeValues() : world_(backend::SimOptions{}), core_(with_device(), world_) {
    core_.register_datum(datum_, {.bytes = 4096, .home = core_.topology().user_memory()});
    datum_.ever_written = true;
  }
  backend::SimWorld world_;
  engine::RegisteredDatum datum_;
  engine::RuntimeCore core_;
};

// A stopped run copies nothing. A write-back that fails after the last task has finished, but before the data away
// from home are counted, also stops the run: "no datum is away from home" would then be wrong.
TEST_F(HomeValues, RefreshOfAStoppedRunThrowsTheReasonOfTheStop) {
  ASSERT_TRUE(core_.home_values().may_be_away());
  core_.home_values().refresh();
  core_.home_values().refresh({datum_.id});
  core_.engine().stop(std::make_exception_ptr(SystemError("a bead fell off")));
  const auto message = [](const auto& refresh) -> std::string {
    try {
      refresh();
    } catch (const SystemError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message([&] { core_.home_values().refresh(); }), "a bead fell off");
  EXPECT_EQ(message([&] { core_.home_values().refresh(true); }), "a bead fell off");
  EXPECT_EQ(message([&] { core_.home_values().refresh({datum_.id}); }), "a bead fell off");
}

TEST_F(HomeValues, RefreshDoesNothingWhileTheRunWindsDown) {
  core_.wind_down();
  core_.home_values().refresh();
  core_.home_values().refresh({datum_.id});
  SUCCEED();
}

}  // namespace
}  // namespace fairlead::tests
