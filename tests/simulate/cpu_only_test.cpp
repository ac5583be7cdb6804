// Kernels without code for devices, on a machine that has rates for them there.
#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <string>

#include "machine/machine_files.hpp"
#include "schedule/policies.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

SimulatedMachine machine_with_v100s_for(const Program& program, std::size_t cores, std::size_t devices = 2) {
  MachineConfig use;
  use.devices = devices;
  use.cores = cores;
  return {machine::load_machine("v100-pcie"), use, program, Precision::single};
}

TEST(CpuOnly, KernelsRunOnCoresAndTheOthersOnDevicesToo) {
  const Program program = make_workload("ldlt", {8000, 800, Precision::single});
  const SimulatedMachine machine = machine_with_v100s_for(program, 4);
  SimulationOptions options;
  options.keep_order = true;
  const SimulationResult result = simulate(program, machine, "dmda", options);
  EXPECT_EQ(result.tasks, program.tasks.size());
  int on_devices = 0;
  for (const TaskRun& run : result.order) {
    const std::string& kernel = program.kernels[static_cast<std::size_t>(program.tasks[run.task].kernel)];
    const auto& worker = machine.topology().workers[static_cast<std::size_t>(run.worker)];
    if (worker.kind == WorkerKind::cpu) continue;
    EXPECT_EQ(kernel, "gemm");
    ++on_devices;
  }
  EXPECT_GT(on_devices, 0);
  EXPECT_EQ(result.order.size(), program.tasks.size());
}

// With one device its set of tiles has tasks that only cores run.
TEST(CpuOnly, KernelsRunUnderEveryPolicyWithOneDeviceAndTwo) {
  const Program program = make_workload("ldlt", {8000, 800, Precision::single});
  for (const std::size_t devices : {1, 2}) {
    const SimulatedMachine machine = machine_with_v100s_for(program, 2, devices);
    for (const PolicyEntry& entry : schedule::policies()) {
      const SimulationResult result = simulate(program, machine, std::string(entry.name), {});
      EXPECT_EQ(result.tasks, program.tasks.size()) << entry.name;
    }
  }
}

TEST(CpuOnly, KernelsAreRefusedWhereNoCoreIsUsed) {
  const Program program = make_workload("ldlt", {8000, 800, Precision::single});
  try {
    machine_with_v100s_for(program, 0);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("the workload has code for cores only"));
  }
}

// Machine files give cores a rate for kernels that they do not name.
TEST(CpuOnly, AKernelThatNoFileNamesNeedsCores) {
  Program program = make_workload("gemm", {1600, 800, Precision::single});
  program.kernels.front() = "fill";
  EXPECT_NO_THROW(machine_with_v100s_for(program, 1));
  try {
    machine_with_v100s_for(program, 0);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("can run fill in single precision: its cores could"));
  }
}

}  // namespace
}  // namespace fairlead::simulate
