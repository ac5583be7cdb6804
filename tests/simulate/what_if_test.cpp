// what-if compared with each of its candidates; its decisions are the same in a replayed log.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "at_length.hpp"
#include "engine/event_log.hpp"
#include "engine/replay.hpp"
#include "machine/machine_files.hpp"
#include "schedule/policies.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"
#include "temporary_directory.hpp"

namespace fairlead::simulate {
namespace {

struct Case {
  const char* workload;
  const char* machine;
  std::int64_t tiles, tile;
  std::size_t devices;
  Bytes memory;
};
// Where data exceed the memories and where they do not; where blocks is the best by far, and the worst.
constexpr Case cases[] = {
    {"cholesky", "v100-pcie", 24, 1920, 8, 1'000'000'000}, {"gemm", "v100-pcie", 10, 1920, 4, 500'000'000},
    {"stencil", "v100-pcie", 16, 64, 1, 200'000'000},      {"cholesky", "guyot", 16, 1920, 8, 40'000'000'000},
    {"random", "p100", 24, 1920, 2, 1'000'000'000},
};

struct Prepared {
  explicit Prepared(const Case& it, Precision precision = Precision::double_, std::size_t cores = 0)
      : program(
            make_workload(it.workload, {.n = it.tiles * it.tile, .tile = it.tile, .precision = precision})),
        machine(machine::load_machine(it.machine),
                {.devices = it.devices, .cores = cores, .device_memory = it.memory}, program, precision) {}
  Program program;
  SimulatedMachine machine;
};

SimulationResult logged_and_replayed(const Prepared& prepared, const char* policy, SimulationOptions how) {
  const tests::TemporaryDirectory directory;
  how.event_log = (directory / "run.log").string();
  const SimulationResult result = simulate(prepared.program, prepared.machine, policy, how);
  const engine::LogFile file = engine::EventLog::read(how.event_log);
  EXPECT_TRUE(file.head.has_what_if);
  const engine::ReplayResult again = engine::replay(file.head, schedule::make_policy(policy), file.words);
  EXPECT_EQ(again.digest, result.digest);
  EXPECT_EQ(again.difference, "");
  return result;
}

}  // namespace

TEST(WhatIfPolicy, IsAboutAsFastAsTheBestCandidate) {
  for (const Case& it : cases) {
    if (!tests::many_cases() && it.workload != std::string_view("stencil")) continue;
    SCOPED_TRACE(it.workload);
    const Prepared prepared(it);
    double best = 1e9, worst = 0;
    for (const char* policy : {"near", "blocks", "darts", "nearer", "dmdas", "heft-tmdp-init"}) {
      const double seconds = simulate(prepared.program, prepared.machine, policy, {}).seconds;
      best = std::min(best, seconds);
      worst = std::max(worst, seconds);
    }
    EXPECT_GT(worst, 1.1 * best);  // the choice matters
    const SimulationResult taken =
        simulate(prepared.program, prepared.machine, "what-if:share=0:within=1", {});
    EXPECT_LT(taken.seconds, 1.08 * best);  // with either first policy
    EXPECT_LT(taken.seconds, worst);
  }
}

// Write-back over a shared bus takes most of the time, and with more devices data are transferred more often. A simulation
// without early write-backs does not show it.
TEST(WhatIfPolicy, IsNotSlowerWithMoreDevicesOnOneBus) {
  const auto with = [](std::size_t devices) {
    Case it{"random", "v100-pcie", 36, 1920, devices, 2'000'000'000};
    const Prepared prepared(it, Precision::single);
    return simulate(prepared.program, prepared.machine, "what-if", {});
  };
  const SimulationResult four = with(4), eight = with(8);
  EXPECT_TRUE(eight.active_policy.starts_with("without:workers=4+5+6+7")) << eight.active_policy;
  EXPECT_LT(eight.seconds, 1.03 * four.seconds);
}

// One device a quarter as fast as in its model, and tasks that take up to a fifth longer or shorter.
TEST(WhatIfPolicy, ToleratesWrongPredictions) {
  const Prepared prepared(cases[0]);
  SimulationOptions how;
  how.noise_percent = 20;
  how.slow = slowdowns_in("gpu1:4");
  const double blocks = simulate(prepared.program, prepared.machine, "blocks", how).seconds;
  EXPECT_LT(simulate(prepared.program, prepared.machine, "what-if:share=1", how).seconds, 1.1 * blocks);
}

// One device of four, a quarter as fast from the middle of the run on: the policy that waits for it is replaced, and the log
// contains when.
TEST(WhatIfPolicy, ALateRunIsSimulatedAgain) {
  const Prepared prepared({"cholesky", "v100-pcie", 30, 1920, 4, 2'000'000'000}, Precision::single);
  SimulationOptions how;
  how.slow = slowdowns_in("gpu0:4:0.5-20");
  const double without = simulate(prepared.program, prepared.machine, "what-if:off=repeat", how).seconds;
  EXPECT_LT(logged_and_replayed(prepared, "what-if", how).seconds, 0.7 * without);
}

TEST(WhatIfPolicy, IsReplayedWithoutSimulations) {
  logged_and_replayed(Prepared(cases[2]), "what-if:share=1", {});
}

// A device with cores that are a thousand times slower, in a first run, without measured durations: on an H200 with 14 cores
// the first run took 30 times as long as the second.
TEST(WhatIfPolicy, LosesLittleInAFirstRun) {
  const Case of_device{"cholesky", "h200", 30, 2048, 1, 2'000'000'000};
  for (const std::size_t cores : {1, 14}) {
    const Prepared prepared(of_device, Precision::double_, cores);
    const SimulationOptions first{.first_run = true};
    const double later = simulate(prepared.program, prepared.machine, "what-if", {}).seconds;
    EXPECT_LT(logged_and_replayed(prepared, "what-if", first).seconds, 1.35 * later) << cores;
    // Nor do its possible first policies, and others that the user may name.
    for (const char* policy : {"near", "dmdas", "dmda", "blocks", "darts", "eager", "lws"}) {
      const double known = simulate(prepared.program, prepared.machine, policy, {}).seconds;
      EXPECT_LT(simulate(prepared.program, prepared.machine, policy, first).seconds, known + 1)
          << policy << " with cores: " << cores;
    }
  }
}

// Tasks run on one kind of processor, and cores are idle, also in simulations.
TEST(WhatIfPolicy, SimulatesCoresThatMayNotRunATask) {
  const Prepared prepared({"cholesky", "h200", 24, 2048, 1, 1'000'000'000}, Precision::double_, 14);
  const SimulationOptions fixed{.fixed_order = true};
  const SimulationResult taken = simulate(prepared.program, prepared.machine, "what-if", fixed);
  EXPECT_LT(taken.seconds, 1.05 * simulate(prepared.program, prepared.machine, "blocks", fixed).seconds);
  EXPECT_GT(simulate(prepared.program, prepared.machine, "near", fixed).seconds, 1.2 * taken.seconds);
}

}  // namespace fairlead::simulate
