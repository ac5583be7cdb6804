// Every workload can be simulated on every machine.
#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "at_length.hpp"
#include "machine/machine_files.hpp"
#include "simulate/machine.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

using machine::MachineDescription;

std::set<std::string> kernels_of(const Program& program) {
  std::set<std::string> kernels;
  for (const ProgramTask& task : program.tasks)
    kernels.insert(program.kernels[static_cast<std::size_t>(task.kernel)]);
  return kernels;
}

bool cores_run(const MachineDescription& machine, std::string_view kernel, Precision precision) {
  return machine.cores > 0 &&
         machine.processor(machine.core_processor).rate_of(kernel, name_of(precision)) != nullptr;
}
bool devices_run(const MachineDescription& machine, std::string_view kernel, Precision precision) {
  return !machine.devices.empty() &&
         std::ranges::all_of(machine.devices, [&](const machine::DeviceDescription& device) {
           return machine.processor(device.processor).rate_of(kernel, name_of(precision)) != nullptr;
         });
}

TEST(Machines, HaveRatesForTheKernelsOfAllWorkloads) {
  std::vector<std::string> written{"qr:tree=binary"};  // has other kernels
  for (const Workload& workload : workloads()) written.emplace_back(workload.name);
  std::size_t turn = 0;
  for (const std::string& workload : written)
    for (const Precision precision : {Precision::single, Precision::double_}) {
      const Program program = make_workload(workload, {100, 30, precision});
      for (const EmbeddedFile& file : machine::built_in_machine_files()) {
        if (tests::left_out(turn++, 5)) continue;
        const MachineDescription machine = machine::load_machine(file.name);
        for (const std::string& kernel : kernels_of(program)) {
          SCOPED_TRACE(workload + ", " + kernel + ", " + std::string(name_of(precision)) + " on " +
                       machine.name);
          EXPECT_TRUE(cores_run(machine, kernel, precision));
          // The workload lists kernels without code for devices.
          EXPECT_TRUE(machine.devices.empty() || devices_run(machine, kernel, precision));
        }
      }
    }
}

std::string refusal_of(const std::string& name, const MachineConfig& use, const WorkloadSize& size) {
  try {
    const Program program = make_workload("cholesky", size);
    const SimulatedMachine machine(machine::load_machine(name), use, program, size.precision);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Machines, MoreMemoryThanTheMachineHasIsRefused) {
  const WorkloadSize size{100, 30, Precision::single};
  EXPECT_EQ(refusal_of("v100-pcie", {.device_memory = 32'000'000'000}, size), "accepted");
  EXPECT_EQ(refusal_of("v100-pcie", {.device_memory = 100'000'000'000}, size),
            "the device v100 0 of the machine v100-pcie has 32GB of memory, not 100GB");
  EXPECT_EQ(refusal_of("epyc-7642", {.host_memory = 513'000'000'000, .data = DataHome::disk}, size),
            "the host of the machine epyc-7642 has 512GB of memory, not 513GB");
}

TEST(Machines, DataThatDoNotFitInTheHostAreRefused) {
  const WorkloadSize large{100'000, 1000, Precision::double_};  // 40 GB of lower tiles
  EXPECT_EQ(refusal_of("v100-pcie", {}, large), "accepted");
  EXPECT_THAT(refusal_of("ac-cluster", {}, large),
              testing::HasSubstr("do not fit in the 8GB of the machine ac-cluster"));
}

TEST(Machines, MayIgnoreTheLinksBetweenDevices) {
  const Program program = make_workload("gemm", {60, 30, Precision::double_});
  for (const bool peers : {true, false}) {
    const SimulatedMachine machine(machine::load_machine("h200"), {.peers = peers}, program,
                                   Precision::double_);
    std::size_t own = 0, through_ram = 0;
    for (const LinkSpec& link : machine.topology().links)
      if (machine.topology().has_kind(link.first, MemoryKind::device) &&
          machine.topology().has_kind(link.second, MemoryKind::device))
        ++(link.physical_links.empty() ? own : through_ram);
    EXPECT_EQ(own, peers ? 28u : 0u);
    EXPECT_EQ(own + through_ram, 28u);
  }
}

// Copies between devices without a wire of their own go through RAM, so they are as slow.
TEST(Machines, CanHaveOtherLinksToTheirDevices) {
  const Program program = make_workload("gemm", {60, 30, Precision::double_});
  const SimulatedMachine machine(machine::load_machine("hannibal"), {.device_bytes_per_second = 2e9}, program,
                                 Precision::double_);
  const auto is_device = [&](NodeId node) { return machine.topology().has_kind(node, MemoryKind::device); };
  std::size_t to_devices = 0, between_devices = 0;
  for (const LinkSpec& link : machine.topology().links) {
    const bool between = is_device(link.first) && is_device(link.second);
    const bool wire = link.physical_links.empty() && is_device(link.second);
    to_devices += wire && !between;
    between_devices += between;
    if (wire || between) {
      EXPECT_EQ(link.bytes_per_second, 2e9);
    }
  }
  EXPECT_EQ(between_devices, 3u);
  EXPECT_EQ(to_devices, 3u);
}

// Copies into a device cross its port in one direction, copies from it in the other.
TEST(Machines, PeersCrossThePortsOfBoth) {
  const Program program = make_workload("gemm", {60, 30, Precision::double_});
  const SimulatedMachine machine(machine::load_machine("h200"), {}, program, Precision::double_);
  const Topology& topology = machine.topology();
  const std::vector<NodeId> devices = topology.devices();
  std::size_t joined = 0;
  for (const LinkSpec& link : topology.links) {
    if (link.buses.size() != 2) continue;
    ++joined;
    EXPECT_EQ(link.bytes_per_second, 432e9);
    EXPECT_TRUE(link.buses[0].reversed);
    EXPECT_FALSE(link.buses[1].reversed);
    for (const auto& [node, use] :
         {std::pair(link.first, link.buses[0]), std::pair(link.second, link.buses[1])})
      EXPECT_EQ(topology.buses[use.bus].name,
                "port of device " + std::to_string(std::ranges::find(devices, node) - devices.begin()));
  }
  EXPECT_EQ(joined, 28u);
}

}  // namespace
}  // namespace fairlead::simulate
