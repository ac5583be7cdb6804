// Simulated runs compared with runs on emulated accelerators.
#include "simulate/emulated.hpp"
#include "sanitized.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <vector>

#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

namespace {

constexpr std::int64_t tile = 64;
constexpr Bytes tile_bytes = tile * tile * 8;

/// A machine of so many devices, each with space for so many tiles. A tile crosses a wire in a quarter of the
/// time of a product of tiles.
machine::MachineDescription machine_of(std::size_t devices, Bytes tiles_in_memory) {
  machine::MachineDescription machine;
  machine.name = "test";
  machine.cores = 1;
  machine.core_processor = "core";
  machine.memory = 64 << 20;
  machine.processors = {{"core", WorkerKind::cpu, {}},
                        {"device", WorkerKind::cuda, {{"*", "", 1.5e9, 0, {}, {}}}}};
  machine.devices.assign(devices, {.name = "device",
                                   .processor = "device",
                                   .memory = tiles_in_memory * tile_bytes,
                                   .link = {400e6, false, {}, {}}});
  return machine;
}
struct FewTiles {
  const char* workload;
  std::int64_t tiles;
  Bytes tiles_in_memory;
};
Program program_of(const FewTiles& small) {
  return make_workload(small.workload,
                       {.n = small.tiles * tile, .tile = tile, .precision = Precision::double_});
}

}  // namespace

// One worker that picks one task at a time has one order, whatever the durations.
TEST(Emulated, MovesTheSameBytesAsTheSimulationIfNothingDependsOnTime) {
  for (const FewTiles& small : {FewTiles{"cholesky", 12, 20}, FewTiles{"lu", 8, 14}})
    for (const char* policy : {"eager", "lws"}) {
      SCOPED_TRACE(fmt::format("{} {}", small.workload, policy));
      const Program program = program_of(small);
      const SimulatedMachine machine(machine_of(1, small.tiles_in_memory), {}, program, Precision::double_);
      const SimulationResult simulated = simulate(program, machine, policy, {.pipeline_depth = 1});
      const EmulatedRun emulated = run_emulated(program, machine, policy, 1);
      EXPECT_EQ(emulated.bytes_to_devices, simulated.bytes_to_devices);
      EXPECT_EQ(emulated.bytes_from_devices, simulated.bytes_from_devices);
      EXPECT_GT(simulated.bytes_to_devices, program.bytes());  // some data are loaded twice
    }
}

// If the order depends on time, real runs differ; they vary around the simulated one.
TEST(Emulated, MovesNearlyTheSameBytesInTheMedianIfTheOrderDependsOnTime) {
  std::vector<double> ratios;
  for (const FewTiles& small : {FewTiles{"cholesky", 12, 20}, FewTiles{"lu", 8, 14}})
    for (const char* policy : {"eager", "lws", "dmda", "dmdas", "darts"}) {
      const Program program = program_of(small);
      const SimulatedMachine machine(machine_of(2, small.tiles_in_memory), {}, program, Precision::double_);
      const SimulationResult simulated = simulate(program, machine, policy, {.pipeline_depth = 1});
      for (int i = 0; i < (tests::sanitized ? 1 : 3); ++i) {
        const EmulatedRun run = run_emulated(program, machine, policy, 1);
        ratios.push_back(static_cast<double>(run.bytes_to_devices + run.bytes_from_devices) /
                         static_cast<double>(simulated.bytes_to_devices + simulated.bytes_from_devices));
      }
    }
  std::ranges::sort(ratios);
  const double median = (ratios[ratios.size() / 2 - 1] + ratios[ratios.size() / 2]) / 2;
  EXPECT_NEAR(median, 1, tests::sanitized ? 0.1 : 0.05) << fmt::format("{}", fmt::join(ratios, " "));
}

TEST(Emulated, RefusesUnsupportedMachines) {
  const Program program = program_of({"cholesky", 4, 8});
  const auto refusal = [&](const auto& change) -> std::string {
    machine::MachineDescription described = machine_of(1, 8);
    change(described);
    try {
      run_emulated(program, SimulatedMachine(described, {}, program, Precision::double_), "eager", 1);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "it ran";
  };
  EXPECT_EQ(refusal([](auto&) {}), "it ran");
  EXPECT_EQ(refusal([](auto& machine) { machine.devices[0].link.duplex = true; }), "it ran");
  EXPECT_THAT(refusal([](auto& machine) { machine.devices[0].link.bytes_per_second.in = 300e6; }),
              testing::HasSubstr("no wires that are slower in one direction"));
  EXPECT_THAT(refusal([](auto& machine) { machine.devices[0].streams = 2; }),
              testing::HasSubstr("no several streams"));
  const Program stencil = make_workload("random", {.n = 4 * tile, .tile = tile});
  const SimulatedMachine machine(machine_of(1, 64), {}, stencil, Precision::double_);
  EXPECT_THROW(run_emulated(stencil, machine, "eager", 1), ConfigError);
}

}  // namespace fairlead::simulate
