// A simulated worker that is blocked by other work before its next task: it starts the task at the end of that work, which is
// queried again then.
#include <gtest/gtest.h>
#include <fairlead/codelet_info.hpp>

#include <deque>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "front/flow/flow_source.hpp"
#include "schedule/policies.hpp"

namespace fairlead::backend {
namespace {

constexpr std::int64_t microsecond = 1'000;

/// Starts of tasks of 10 microseconds each on some workers, in microseconds.
std::vector<std::int64_t> starts(std::size_t workers, int tasks, std::function<Time(WorkerId)> free_from) {
  std::vector<std::int64_t> at;
  SimOptions options;
  options.duration = [](const Task&, WorkerId) { return Duration(10 * microsecond); };
  options.free_from = std::move(free_from);
  SimWorld* world = nullptr;
  options.on_start = [&](Task&, WorkerId) { at.push_back(world->now().count() / microsecond); };
  SimWorld sim(std::move(options));
  world = &sim;
  engine::CoreOptions core_options;
  core_options.topology = out_of_core_topology(workers, Bytes{4} << 20, 1e18, Duration{});
  core_options.policy = schedule::make_policy("lws");
  core_options.engine.policy_name = "lws";
  core_options.engine.pipeline_depth = 2;
  engine::RuntimeCore core(std::move(core_options), sim);
  CodeletInfo codelet;
  std::deque<engine::RegisteredDatum> data;
  front::FlowSource flow(core);
  for (int i = 0; i < tasks; ++i) {
    engine::RegisteredDatum& datum = data.emplace_back();
    core.register_datum(datum,
                        {.bytes = 4096, .home = core.topology().store(), .home_offset = Bytes(i) * 4096});
    const front::Submission::Use use{&datum, AccessMode::write};
    front::Submission submission;
    submission.codelet = &codelet;
    submission.uses = {&use, 1};
    flow.submit(submission);
  }
  flow.wait();
  EXPECT_EQ(core.engine().tasks_done(), static_cast<std::uint64_t>(tasks));
  return at;
}

Time at(std::int64_t microseconds) { return Time(microseconds * microsecond); }

TEST(KeptWorker, StartsAtOnceIfNotBlocked) {
  EXPECT_EQ(starts(1, 3, nullptr), (std::vector<std::int64_t>{0, 10, 20}));
  EXPECT_EQ(starts(1, 3, [](WorkerId) { return Time{}; }), (std::vector<std::int64_t>{0, 10, 20}));
}

TEST(KeptWorker, StartsWhenItIsUnblocked) {
  Time until = at(5);
  int asked = 0;
  const auto free_from = [&](WorkerId) {
    if (++asked == 2) until = at(7);  // it has to wait longer
    return until;
  };
  EXPECT_EQ(starts(1, 3, free_from), (std::vector<std::int64_t>{7, 17, 27}));
  EXPECT_EQ(asked, 3 + 2);
}

TEST(KeptWorker, WaitsBetweenTasksWhileBlocked) {
  const auto first_is_kept = [](WorkerId id) { return id == WorkerId{0} ? at(35) : Time{}; };
  EXPECT_EQ(starts(2, 5, first_is_kept), (std::vector<std::int64_t>{0, 10, 20, 30, 35}));
}

}  // namespace
}  // namespace fairlead::backend
