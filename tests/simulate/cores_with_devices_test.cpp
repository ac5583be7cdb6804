// Policies that ignore durations, with cores and devices: the cores must not slow them down.
#include <gtest/gtest.h>

#include "machine/machine_files.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

double seconds_of(const std::string& policy, const Program& program, std::size_t cores) {
  MachineConfig use;
  use.cores = cores;
  const SimulatedMachine machine{machine::load_machine("k40"), use, program, Precision::double_};
  return simulate(program, machine, policy, SimulationOptions{}).seconds;
}

TEST(CoresWithDevices, DoNotSlowDownPoliciesThatIgnoreDurations) {
  for (const std::int64_t tiles : {12, 24}) {
    const Program program = make_workload("cholesky", {tiles * 960, 960, Precision::double_});
    for (const char* policy : {"darts", "darts-belady", "darts-chain", "darts-defer", "eager", "lfq", "ap"}) {
      SCOPED_TRACE(policy);
      EXPECT_LE(seconds_of(policy, program, 20), seconds_of(policy, program, 0) / 0.97);
    }
  }
}

// The 20 cores are a tenth of the machine, and there are enough tasks for all.
TEST(CoresWithDevices, HelpWithEnoughTasks) {
  const Program program = make_workload("cholesky", {36 * 960, 960, Precision::double_});
  for (const char* policy : {"darts", "eager", "lws"}) {
    SCOPED_TRACE(policy);
    EXPECT_LE(seconds_of(policy, program, 20), seconds_of(policy, program, 0) / 1.05);
  }
}

}  // namespace
}  // namespace fairlead::simulate
