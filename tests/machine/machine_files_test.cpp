// The machines that Fairlead includes: figures of their data sheets and papers, and requirements for all of them.
#include "machine/machine_files.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace fairlead::machine {
namespace {

using testing::HasSubstr;

constexpr double giga = 1e9;

double best_gflops(const MachineDescription& machine, std::string_view processor, std::string_view kernel,
                   std::string_view precision) {
  return machine.processor(processor).rate_of(kernel, precision)->flops_per_second / giga;
}
/// Bytes per second of all peer links of a device, in one direction.
std::map<std::size_t, double> to_peers(const MachineDescription& machine) {
  std::map<std::size_t, double> sum;
  for (const PeerDescription& peer : machine.peers)
    for (const std::size_t device : {peer.first, peer.second}) sum[device] += peer.link.bytes_per_second.out;
  return sum;
}

TEST(MachineFiles, AllIncludedFilesCanBeRead) {
  EXPECT_GE(built_in_machine_files().size(), 12u);
  for (const EmbeddedFile& file : built_in_machine_files()) {
    SCOPED_TRACE(file.name);
    const MachineDescription machine = load_machine(file.name);
    EXPECT_EQ(machine.name, file.name);
    EXPECT_GT(machine.source.size(), 100u);  // where the figures are from
    EXPECT_THAT(machine.source, HasSubstr("Assumed"));
    EXPECT_GT(machine.cores, 0u);
  }
}

TEST(MachineFiles, NoKernelIsFasterThanAProductOfTiles) {
  for (const EmbeddedFile& file : built_in_machine_files()) {
    const MachineDescription machine = load_machine(file.name);
    for (const ProcessorDescription& processor : machine.processors)
      for (const std::string_view precision : {"single", "double"}) {
        const KernelRate* gemm = processor.rate_of("gemm", precision);
        ASSERT_NE(gemm, nullptr);
        for (const KernelRate& rate : processor.rates) {
          if (rate.kernel == "life") continue;  // counts additions of bytes
          if (!rate.precision.empty() && rate.precision != precision) continue;
          SCOPED_TRACE(std::string(file.name) + ", " + processor.name + ", " + rate.kernel);
          EXPECT_LE(rate.rate(1000), gemm->rate(1000));
          EXPECT_EQ(processor.kind != WorkerKind::cpu, rate.overhead > Duration::zero());
        }
      }
  }
}

// The paper's bus of 12 GB/s for all, and six links of each device of a DGX-1.
TEST(MachineFiles, V100HasOneBusAndACubeMeshOfNvlink) {
  const MachineDescription machine = load_machine("v100-pcie");
  ASSERT_EQ(machine.devices.size(), 8u);
  ASSERT_EQ(machine.buses.size(), 1u);
  EXPECT_EQ(machine.buses[0].bytes_per_second, 12 * giga);
  EXPECT_EQ(machine.devices[7].link.buses, std::vector{machine.buses[0].name});
  EXPECT_EQ(machine.devices[0].memory, 32'000'000'000u);
  const auto links = to_peers(machine);
  EXPECT_EQ(links.size(), 8u);
  for (const auto& [device, bytes_per_second] : links) EXPECT_EQ(bytes_per_second, 6 * 24 * giga) << device;
  for (const std::string_view kernel : {"gemm", "syrk", "trsm", "potrf", "getrf", "tsmqr"})
    EXPECT_EQ(best_gflops(machine, "v100", kernel, "double"),
              best_gflops(machine, "v100", kernel, "single") / 2)
        << kernel;
}

TEST(MachineFiles, Epyc7642HasADiskThatReadsOrWrites) {
  const MachineDescription machine = load_machine("epyc-7642");
  EXPECT_EQ(machine.cores, 48u);
  EXPECT_TRUE(machine.devices.empty());
  ASSERT_TRUE(machine.disk.has_value());
  EXPECT_EQ(machine.disk->bytes_per_second, 350e6);
  EXPECT_FALSE(machine.disk->duplex);
  EXPECT_NEAR(best_gflops(machine, machine.core_processor, "gemm", "double"), 0.9 * 2.3 * 16, 0.1);
}

TEST(MachineFiles, MachinesOf2010CopyInOneDirectionAtATime) {
  const MachineDescription hannibal = load_machine("hannibal"), ac = load_machine("ac-cluster");
  ASSERT_EQ(hannibal.devices.size(), 3u);
  EXPECT_EQ(hannibal.cores, 8u);
  EXPECT_TRUE(hannibal.peers.empty());
  EXPECT_NEAR(best_gflops(hannibal, "gt200", "gemm", "single"), 0.6 * 622, 1);
  ASSERT_EQ(ac.devices.size(), 4u);
  EXPECT_EQ(ac.cores, 4u);
  EXPECT_EQ(ac.network.nodes, 32u);
  EXPECT_EQ(ac.devices[0].link.buses, ac.devices[1].link.buses);
  EXPECT_EQ(ac.devices[2].link.buses, ac.devices[3].link.buses);
  EXPECT_NE(ac.devices[1].link.buses, ac.devices[2].link.buses);
  for (const MachineDescription* machine : {&hannibal, &ac})
    for (const DeviceDescription& device : machine->devices) {
      EXPECT_EQ(device.memory, 4'000'000'000u);
      EXPECT_FALSE(device.link.duplex);
    }
}

TEST(MachineFiles, MachinesOf2019RunSeveralKernelsAtOnce) {
  const MachineDescription k40 = load_machine("k40"), p100 = load_machine("p100");
  EXPECT_EQ(k40.devices.size(), 4u);
  EXPECT_EQ(p100.devices.size(), 2u);
  EXPECT_EQ(k40.devices[0].memory, 12'000'000'000u);
  EXPECT_EQ(p100.devices[0].memory, 16'000'000'000u);
  for (const MachineDescription* machine : {&k40, &p100}) {
    EXPECT_EQ(machine->cores, 24u);
    // The share that an update kernel of side 512 leaves idle.
    const DeviceDescription& device = machine->devices[0];
    const double half_side = machine->processor(device.processor).rate_of("tsmqr", "double")->half_side;
    EXPECT_NEAR(device.concurrent_throughput, (512 + half_side) / 512, 0.05);
  }
}

TEST(MachineFiles, MachinesWithNvswitchShareAPortPerDevice) {
  for (const std::string_view name : {"guyot", "h200"}) {
    const MachineDescription machine = load_machine(name);
    ASSERT_EQ(machine.devices.size(), 8u);
    EXPECT_EQ(machine.peers.size(), 28u);
    EXPECT_EQ(std::ranges::count_if(machine.buses, [](const auto& bus) { return bus.port_of.has_value(); }),
              8);
  }
  const MachineDescription guyot = load_machine("guyot"), h200 = load_machine("h200");
  EXPECT_EQ(guyot.cores, 128u);
  EXPECT_EQ(guyot.devices[0].memory, 80'000'000'000u);
  for (std::size_t i = 0; i < 8; i += 2)
    EXPECT_EQ(guyot.devices[i].link.buses, guyot.devices[i + 1].link.buses);
  EXPECT_NE(guyot.devices[1].link.buses, guyot.devices[2].link.buses);
  EXPECT_EQ(h200.devices[0].memory, 141'000'000'000u);
}

TEST(MachineFiles, SummitHasTwoSocketsOfThreeDevices) {
  const MachineDescription machine = load_machine("summit");
  ASSERT_EQ(machine.devices.size(), 6u);
  EXPECT_EQ(machine.devices[0].memory, 16'000'000'000u);
  EXPECT_EQ(machine.peers.size(), 6u);
  for (const PeerDescription& peer : machine.peers) EXPECT_EQ(peer.first / 3, peer.second / 3);
  EXPECT_EQ(machine.network.nodes, 4608u);
  EXPECT_EQ(machine.network.interfaces, 2u);
  EXPECT_FALSE(machine.network.interfaces_on_devices);
}

// Eight links of 50 GB/s a die: one goes to the host, and one of the odd dies' to the network.
TEST(MachineFiles, FrontierHasItsNetworkBehindTheDevices) {
  const MachineDescription machine = load_machine("frontier");
  ASSERT_EQ(machine.devices.size(), 8u);
  EXPECT_EQ(machine.devices[0].memory, 64'000'000'000u);
  EXPECT_EQ(machine.devices[0].link.bytes_per_second, 36 * giga);
  EXPECT_TRUE(machine.network.interfaces_on_devices);
  EXPECT_EQ(machine.network.interfaces, 4u);
  for (const auto& [device, bytes_per_second] : to_peers(machine))
    EXPECT_EQ(bytes_per_second, (device % 2 == 0 ? 7 : 6) * 50 * giga) << device;
}

TEST(MachineFiles, ClustersOf2011HaveTheirNodesAndPeak) {
  const MachineDescription griffon = load_machine("griffon"), dancer = load_machine("dancer");
  EXPECT_EQ(griffon.cores * griffon.network.nodes, 648u);
  EXPECT_EQ(dancer.cores * dancer.network.nodes, 32u);
  EXPECT_EQ(griffon.memory, 16'000'000'000u);
  EXPECT_EQ(dancer.memory, 4'000'000'000u);
  for (const MachineDescription* machine : {&griffon, &dancer})
    EXPECT_NEAR(best_gflops(*machine, machine->core_processor, "gemm", "double"), 0.9 * 2.5 * 4, 0.01);
}

TEST(MachineFiles, TheErrorOfAnUnknownNameSuggestsTheNearestOne) {
  try {
    load_machine("v100-pci");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean v100-pcie?"));
  }
  EXPECT_THROW(load_machine("./no.toml"), ConfigError);
}

}  // namespace
}  // namespace fairlead::machine
