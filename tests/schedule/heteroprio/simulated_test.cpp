// Whole factorizations on simulated machines of cores and devices: estimated factors are as good as given ones,
// and locality pays.
#include <gtest/gtest.h>

#include <string>

#include "machine/machine_files.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

using simulate::SimulationResult;

SimulationResult cholesky(const std::string& policy, std::size_t devices, unsigned streams = 1) {
  const simulate::WorkloadSize size{.n = 19200, .tile = 960, .precision = simulate::Precision::single};
  const simulate::Program program = simulate::make_workload("cholesky", size);
  simulate::MachineConfig use;
  use.devices = devices;
  use.cores = 12;
  use.streams = streams;
  const simulate::SimulatedMachine machine(machine::load_machine("v100-pcie"), use, program, size.precision);
  return simulate::simulate(program, machine, policy, {});
}

// By the paper's rule: what a kind is best at. The factors are those of the machine's file.
const std::string by_hand =
    ":cpu=potrf/trsm/syrk/gemm:cuda=gemm/syrk/trsm/potrf"
    ":speedup=potrf@cuda@17/trsm@cuda@112/syrk@cuda@141/gemm@cuda@167";

TEST(HeteroprioSimulated, EstimatedFactorsAreAsGoodAsGivenOnes) {
  for (const std::size_t devices : {1u, 2u, 4u})
    for (const std::string policy : {"heteroprio", "laheteroprio"}) {
      SCOPED_TRACE(policy + ", " + std::to_string(devices) + " devices");
      EXPECT_LE(cholesky(policy, devices).seconds, 1.02 * cholesky(policy + by_hand, devices).seconds);
    }
}

TEST(HeteroprioSimulated, LocalityMovesLessBetweenDevices) {
  for (const std::size_t devices : {2u, 4u}) {
    const SimulationResult without = cholesky("heteroprio", devices),
                           with = cholesky("laheteroprio", devices);
    EXPECT_LT(static_cast<double>(with.bytes_between_devices),
              0.7 * static_cast<double>(without.bytes_between_devices));
    EXPECT_LT(with.seconds, 1.1 * without.seconds);
  }
}

// What gemm reads comes from trsm on the cores; what it writes is on the device that wrote it last. LS_SDH
// counts two tiles against one, and takes the task to the cores' list, out of which any device has it.
TEST(HeteroprioSimulated, AnAffinityThatWeighsWritesTransfersLessAndIsSteadier) {
  const simulate::WorkloadSize size{.n = 10240, .tile = 256, .precision = simulate::Precision::double_};
  const simulate::Program program = simulate::make_workload("ldlt", size);
  const simulate::SimulatedMachine machine(
      machine::load_machine("k40"), {.devices = 2, .cores = 20, .streams = 11u}, program, size.precision);
  const auto moved = [&](const std::string& policy) {
    const SimulationResult result = simulate::simulate(program, machine, policy, {.pipeline_depth = 4});
    return static_cast<double>(result.bytes_to_devices + result.bytes_from_devices);
  };
  const double without = moved("heteroprio");
  EXPECT_GT(moved("laheteroprio:affinity=sdh"), 0.5 * without);
  EXPECT_LT(moved("laheteroprio:affinity=sdh2"), 0.5 * without);
  EXPECT_LT(moved("laheteroprio:affinity=sdhb"), 0.5 * without);
  EXPECT_LT(moved("laheteroprio"), 0.5 * without);
}

// Cores take a hundred times as long for gemm: one taken at the wrong moment would be all of the time. lws
// leaves those to the devices.
TEST(HeteroprioSimulated, TheCoresDoNotDelayTheEnd) {
  for (const std::string policy : {"heteroprio", "laheteroprio"})
    for (const unsigned streams : {1u, 4u}) {
      SCOPED_TRACE(policy + ", " + std::to_string(streams) + " streams");
      EXPECT_LT(cholesky(policy, 2, streams).seconds, 1.25 * cholesky("lws", 2, streams).seconds);
    }
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
