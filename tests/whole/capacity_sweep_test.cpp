// Tiled Cholesky out of core in the simulator, from the smallest memory that holds one task upwards.
#include <gtest/gtest.h>

#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "front/flow/flow_source.hpp"
#include "random/value_checker.hpp"
#include "schedule/policies.hpp"
#include "whole/every_policy.hpp"

namespace fairlead::tests {

using namespace random_runs;

namespace {

constexpr Bytes tile_bytes = 64 * 1024;

/// The lower triangle, tile by tile; the tasks of every tiled Cholesky.
struct CholeskyProgram : RandomProgram {
  explicit CholeskyProgram(std::size_t tiles) : RandomProgram() {
    const auto at = [](std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; };
    for (std::size_t i = 0; i < at(tiles, 0); ++i)
      data.push_back({.bytes = tile_bytes, .initial = Random::mix(i + 3)});
    const auto task = [this](std::vector<PlannedUse> uses) { tasks.emplace_back().uses = std::move(uses); };
    using enum AccessMode;
    for (std::size_t k = 0; k < tiles; ++k) {
      task({{at(k, k), read_write}});
      for (std::size_t m = k + 1; m < tiles; ++m) task({{at(k, k), read}, {at(m, k), read_write}});
      for (std::size_t j = k + 1; j < tiles; ++j) {
        task({{at(j, k), read}, {at(j, j), read_write}});
        for (std::size_t m = j + 1; m < tiles; ++m)
          task({{at(m, k), read}, {at(j, k), read}, {at(m, j), read_write}});
      }
    }
    run_in_order();
  }
};

class CapacitySweep : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

}  // namespace

TEST_P(CapacitySweep, CholeskyEndsWithTheRightValuesAtEveryCapacity) {
  const auto& [policy, workers] = GetParam();
  for (std::size_t tiles = 6; tiles <= 12; tiles += 2) {
    const CholeskyProgram program(tiles);
    for (std::size_t capacity = 3; capacity <= program.data.size(); capacity += 1 + capacity / 4) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles a side, memory for " + std::to_string(capacity));
      backend::SimOptions sim;
      sim.noise_percent = 10;
      sim.most_events = 100 * program.tasks.size();
      sim.duration = [](const Task&, WorkerId) { return Duration(50'000); };
      ValueChecker checker(program, 3);
      sim.on_copy_start = [&](const memory::Copy& copy) { checker.copy_starts(copy); };
      sim.on_copy = [&](const memory::Copy& copy, bool succeeded) { checker.copy_ends(copy, succeeded); };
      sim.on_start = [&](Task& task, WorkerId worker) { checker.task_starts(task, worker); };
      sim.on_end = [&](Task& task, WorkerId, bool succeeded) { checker.task_ends(task, succeeded); };
      backend::SimWorld world(sim);
      engine::CoreOptions options{
          .topology = out_of_core_topology(workers, capacity * tile_bytes, 2e9, Duration(20'000)),
          .policy = schedule::make_policy(policy),
          .engine = {}};
      options.engine.check_invariants = tiles <= 8;
      engine::RuntimeCore core(std::move(options), world);
      checker.attach(core.engine());
      std::vector<engine::RegisteredDatum> data(program.data.size());
      for (auto& datum : data) {
        core.register_datum(datum, {.bytes = tile_bytes, .home = core.topology().store()});
        datum.ever_written = true;
        checker.registered(index(datum.id), datum.id);
      }
      CodeletInfo codelet;
      front::FlowSource flow(core);
      for (const PlannedTask& task : program.tasks) {
        std::vector<front::Submission::Use> uses;
        for (const PlannedUse& use : task.uses) uses.push_back({&data[use.datum], use.mode});
        front::Submission submission;
        submission.codelet = &codelet;
        submission.uses = uses;
        submission.line = static_cast<std::uint32_t>(flow.submitted());  // the task's number
        flow.submit(submission);
      }
      flow.wait();
      core.home_values().flush();
      core.wait_until([&] { return core.engine().idle(); });
      core.engine().memory().check(true);
      checker.check_homes();
      ASSERT_FALSE(checker.failure().has_value()) << *checker.failure();
      EXPECT_EQ(core.engine().tasks_done(), program.tasks.size());
      EXPECT_LE(core.engine().memory().node(core.topology().host()).peak_bytes, capacity * tile_bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, CapacitySweep,
                         testing::Combine(testing::ValuesIn(every_policy()), testing::Values(1, 2, 4)),
                         [](const auto& instance) {
                           return name_of_policy(std::get<0>(instance.param)) + "_" +
                                  std::to_string(std::get<1>(instance.param)) + "_workers";
                         });

}  // namespace fairlead::tests
