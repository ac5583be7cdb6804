// Accuracy and speed of simulations. Programs run on emulated accelerators, where tasks sleep and copies take
// as long as in a description, and in simulation with the same description. Then Table 1's largest run of
// DARTS (Gonthier, Marchal, Thibault 2023), in events per second.
//
//   simulator [--rounds 5] [--milliseconds 2] [--tiles 12]     milliseconds: sleep of a product of tiles
//
// Prints JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "machine/machine_files.hpp"
#include "simulate/emulated.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace {

using namespace fairlead;
using namespace fairlead::simulate;

constexpr std::int64_t tile = 64;
constexpr Bytes tile_bytes = tile * tile * sizeof(double);

struct Machine {
  const char* name;
  std::size_t devices;
  double copies_a_product;  // tiles that cross a link during a product
};
constexpr Machine machines[] = {{"one device, quick wire", 1, 8},
                                {"one device, slow wire", 1, 1},
                                {"two devices", 2, 4},
                                {"four devices", 4, 4}};

machine::MachineDescription described(const Machine& machine, double milliseconds, Bytes memory) {
  const double product = 2.0 * tile * tile * tile;
  machine::MachineDescription description;
  description.name = machine.name;
  description.cores = 1;
  description.core_processor = "core";
  description.memory = Bytes{1} << 28;
  description.processors = {
      {"core", WorkerKind::cpu, {}},
      {"device", WorkerKind::cuda, {{"*", "", product / (milliseconds * 1e-3), 0, {}, {}}}}};
  const double bandwidth = machine.copies_a_product * static_cast<double>(tile_bytes) / (milliseconds * 1e-3);
  description.devices.assign(
      machine.devices,
      {.name = "device", .processor = "device", .memory = memory, .link = {bandwidth, false, {}, {}}});
  return description;
}

std::string compared(const Machine& machine, const std::string& workload, const std::string& policy,
                     std::size_t depth, double milliseconds, std::int64_t tiles, int rounds) {
  const Program program =
      make_workload(workload, {.n = tiles * tile, .tile = tile, .precision = Precision::double_});
  const SimulatedMachine simulated_machine(described(machine, milliseconds, program.bytes() / 4), {}, program,
                                           Precision::double_);
  const SimulationResult simulated =
      fairlead::simulate::simulate(program, simulated_machine, policy, {.pipeline_depth = depth});
  std::vector<double> seconds, bytes;
  for (int round = 0; round < rounds; ++round) {
    const EmulatedRun run = run_emulated(program, simulated_machine, policy, depth);
    seconds.push_back(run.seconds);
    bytes.push_back(static_cast<double>(run.bytes_to_devices + run.bytes_from_devices));
  }
  return fmt::format(
      R"({{"machine": "{}", "workload": "{}", "policy": "{}", "depth": {}, "simulated_seconds": {}, )"
      R"("emulated_seconds": [{}], "simulated_bytes": {}, "emulated_bytes": [{}]}})",
      machine.name, workload, policy, depth, simulated.seconds, fmt::join(seconds, ", "),
      simulated.bytes_to_devices + simulated.bytes_from_devices, fmt::join(bytes, ", "));
}

/// Events per second of real time.
std::vector<double> events_per_second(int rounds) {
  const WorkloadSize size{.n = 109440, .tile = 1920, .precision = Precision::single};
  const Program program = make_workload("cholesky", size);
  const SimulatedMachine machine(machine::load_machine("v100-pcie"),
                                 {.devices = 1, .cores = 0, .device_memory = 2'000'000'000}, program,
                                 Precision::single);
  std::vector<double> rates;
  for (int round = 0; round < rounds; ++round) {
    const SimulationResult result = fairlead::simulate::simulate(program, machine, "darts", {});
    rates.push_back(static_cast<double>(result.events) / result.simulation_seconds);
  }
  return rates;
}

}  // namespace

int main(int argc, char** argv) try {
  std::map<std::string, double> given{{"--rounds", 5}, {"--milliseconds", 2}, {"--tiles", 12}};
  for (int i = 1; i < argc; i += 2) {
    if (!given.contains(argv[i]) || i + 1 == argc)
      throw ConfigError(
          fmt::format("simulator: {} is not an option with a value; there are --rounds, --milliseconds "
                      "and --tiles",
                      argv[i]));
    given[argv[i]] = std::atof(argv[i + 1]);
  }
  const int rounds = static_cast<int>(given["--rounds"]);
  std::string rows;
  for (const Machine& machine : machines)
    for (const char* workload : {"cholesky", "lu"})
      for (const char* policy : {"eager", "lws", "dmda", "dmdas", "darts"})
        rows +=
            (rows.empty() ? "" : ",\n  ") + compared(machine, workload, policy, 4, given["--milliseconds"],
                                                     static_cast<std::int64_t>(given["--tiles"]), rounds);
  fmt::print("{{\"runs\": [\n  {}],\n \"events_per_second\": [{}]}}\n", rows,
             fmt::join(events_per_second(rounds), ", "));
} catch (const fairlead::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
