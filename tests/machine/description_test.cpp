// Reading machine files, and the errors of invalid ones.
#include "machine/description.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <string>

namespace fairlead::machine {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// The smallest machine, with `more` after its processors.
std::string small(const std::string& more = "") {
  return "name = \"small\"\nsummary = \"one core\"\nsource = \"made up\"\n"
         "[processor.core]\nkind = \"cpu\"\n[[processor.core.rate]]\nkernel = \"*\"\ngflops = 10\n"
         "[processor.card]\nkind = \"cuda\"\n"
         "[[processor.card.rate]]\nkernel = \"gemm\"\nprecision = \"single\"\ngflops = 1000\nhalf_side = "
         "100\n"
         "overhead_microseconds = 5\n"
         "[[processor.card.rate]]\nkernel = \"gemm\"\nby_side = [[100, 100], [300, 500]]\n"
         "[host]\ncores = 2\ncore = \"core\"\nmemory = \"4GiB\"\n" +
         more;
}
const std::string device =
    "[[device]]\nprocessor = \"card\"\nmemory = \"1GB\"\nbandwidth = \"10GB/s\"\ncount = 2\n";

std::string refusal(const std::string& text) {
  try {
    read_machine(text, "m.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MachineDescription, GivesTheDurationsOfKernels) {
  const MachineDescription machine = read_machine(small(), "m.toml");
  const ProcessorDescription& card = machine.processor("card");
  const KernelRate* single = card.rate_of("gemm", "single");
  ASSERT_NE(single, nullptr);
  EXPECT_EQ(single->duration(1e9, 100), 2ms + 5us);  // half of 1000 GF/s
  const KernelRate* both = card.rate_of("gemm", "double");
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->duration(1e9, 10), 10ms);
  EXPECT_EQ(both->duration(1e9, 200), Duration(3'333'334));  // 300 GF/s, rounded up
  EXPECT_EQ(both->duration(1e9, 1000), 2ms);
  EXPECT_EQ(card.rate_of("trsm", "single"), nullptr);
  EXPECT_EQ(machine.processor("core").rate_of("trsm", "single")->duration(1e10, 5), 1s);
}

TEST(MachineDescription, HasDevicesLinksAndPeers) {
  const MachineDescription machine =
      read_machine(small("[[bus]]\nname = \"pcie\"\nbandwidth = \"12GB/s\"\n" + device +
                         "buses = [\"pcie\"]\n[[peers]]\nall = true\nbandwidth = \"48GB/s\"\n"
                         "[disk]\nbandwidth = \"350MB/s\"\nduplex = false\nlatency_microseconds = 100\n"),
                   "m.toml");
  ASSERT_EQ(machine.devices.size(), 2u);
  EXPECT_EQ(machine.devices[1].name, "gpu 1");
  EXPECT_EQ(machine.devices[1].memory, 1'000'000'000u);
  EXPECT_EQ(machine.devices[1].link.buses, std::vector<std::string>{"pcie"});
  EXPECT_EQ(machine.devices[1].link.latency, 10us);
  EXPECT_TRUE(machine.buses.at(0).duplex);
  ASSERT_EQ(machine.peers.size(), 1u);
  EXPECT_EQ(machine.peers[0].link.bytes_per_second, 48e9);
  ASSERT_TRUE(machine.disk.has_value());
  EXPECT_FALSE(machine.disk->duplex);
  EXPECT_EQ(machine.disk->latency, 100us);
  EXPECT_EQ(machine.memory, Bytes{4} << 30);
}

TEST(MachineDescription, LinksMayBeSlowerInOneDirection) {
  const MachineDescription machine = read_machine(
      small("[[bus]]\nname = \"b\"\nbandwidth = \"9GB/s\"\nbandwidth_back = \"8GB/s\"\n" + device +
            "bandwidth_back = \"5GB/s\"\n[[device]]\nprocessor = \"card\"\nmemory = \"1GB\"\n"
            "bandwidth = \"1GB/s\"\n[disk]\nbandwidth = \"3GB/s\"\nbandwidth_back = \"1GB/s\"\n"
            "[[peers]]\nbetween = [[0, 1], [2, 1]]\nbandwidth = \"20GB/s\"\nbandwidth_back = \"10GB/s\"\n"),
      "m.toml");
  EXPECT_EQ(machine.buses.at(0).bytes_per_second, Bandwidth(9e9, 8e9));
  EXPECT_EQ(machine.devices.at(1).link.bytes_per_second, Bandwidth(10e9, 5e9));
  EXPECT_EQ(machine.devices.at(2).link.bytes_per_second, Bandwidth(1e9));
  EXPECT_EQ(machine.disk->bytes_per_second, Bandwidth(3e9, 1e9));
  EXPECT_EQ(machine.peers.at(0).link.bytes_per_second, Bandwidth(20e9, 10e9));
  // Written as from 2 to 1.
  EXPECT_EQ(machine.peers.at(1).first, 1u);
  EXPECT_EQ(machine.peers.at(1).link.bytes_per_second, Bandwidth(10e9, 20e9));
  EXPECT_THAT(refusal(small(device + "[[peers]]\nall = true\nports = true\nbandwidth = \"300GB/s\"\n"
                                     "bandwidth_back = \"100GB/s\"\n")),
              HasSubstr("bandwidth_back of a [[peers]] is not allowed with ports"));
}

TEST(MachineDescription, AcceptsRatesAsInlineTables) {
  const std::string text =
      "name = \"small\"\nsummary = \"one core\"\nsource = \"made up\"\n[processor.core]\nkind = \"cpu\"\n"
      "rate = [\n  { kernel = \"gemm\", gflops = 10 },\n  { kernel = \"trsm\", gflops = 5, half_side = 100 "
      "},\n]\n"
      "[host]\ncores = 2\ncore = \"core\"\nmemory = \"4GiB\"\n";
  EXPECT_EQ(read_machine(text, "m.toml").processor("core").rate_of("trsm", "single")->rate(100), 2.5e9);
}

TEST(MachineDescription, PeersBehindPortsShareThem) {
  const MachineDescription machine = read_machine(
      small(device + "[[device]]\nprocessor = \"card\"\nmemory = \"1GB\"\nbandwidth = \"1GB/s\"\n"
                     "[[peers]]\nall = true\nports = true\nbandwidth = \"300GB/s\"\n"),
      "m.toml");
  ASSERT_EQ(machine.buses.size(), 3u);
  EXPECT_EQ(machine.buses[2].port_of, 2u);
  EXPECT_EQ(machine.buses[2].bytes_per_second, 300e9);
  ASSERT_EQ(machine.peers.size(), 3u);
  EXPECT_EQ(machine.peers[1].link.buses, (std::vector{machine.buses[0].name, machine.buses[2].name}));
}

TEST(MachineDescription, HasANetwork) {
  const std::string network = "[network]\nnodes = 16\ninterfaces = 2\nbandwidth = \"24GB/s\"\n";
  const MachineDescription machine =
      read_machine(small(device + network + "attached_to_devices = true\n"), "m.toml");
  EXPECT_EQ(machine.network.nodes, 16u);
  EXPECT_EQ(machine.network.interfaces, 2u);
  EXPECT_EQ(machine.network.link.bytes_per_second, 24e9);
  EXPECT_TRUE(machine.network.interfaces_on_devices);
  const MachineDescription switches =
      read_machine(small(network + "nodes_per_switch = 4\nswitch_bandwidth = \"100GB/s\"\n"), "m.toml");
  EXPECT_EQ(switches.network.nodes_per_switch, 4u);
  EXPECT_EQ(switches.network.switch_bytes_per_second, 100e9);
  EXPECT_THAT(refusal(small(network + "switch_bandwidth = \"100GB/s\"\n")),
              HasSubstr("switch_bandwidth of [network] has no effect without nodes_per_switch"));
  EXPECT_THAT(refusal(small(network + "nodes_per_switch = 17\n")),
              HasSubstr("nodes_per_switch of [network]"));
  EXPECT_THAT(refusal(small(network + "buses = [\"fabric\"]\n")),
              HasSubstr("the network goes through the bus \"fabric\", which no [[bus]] describes"));
  EXPECT_THAT(refusal(small("[network]\nnodes = 16\n")), HasSubstr("bandwidth of [network]"));
  EXPECT_THAT(refusal(small(network + "node = 3\n")), HasSubstr("did you mean nodes?"));
  EXPECT_EQ(refusal(small(network + "attached_to_devices = true\n")),
            "m.toml:28: attached_to_devices of [network] distributes 2 interfaces over 0 devices; each must "
            "have as many devices");
}

TEST(MachineDescription, GivesTheCostOfPageFaults) {
  const std::string unified =
      "[unified_memory]\nbatch_pages = 20\nbatch_microseconds = 58\npage_microseconds = 9.4\n";
  const MachineDescription machine = read_machine(small(device + unified), "m.toml");
  ASSERT_TRUE(machine.unified_memory.has_value());
  EXPECT_EQ(machine.unified_memory->batch_pages, 20u);
  EXPECT_EQ(machine.unified_memory->batch_time, 58us);
  EXPECT_EQ(machine.unified_memory->time_per_page, 9400ns);
  EXPECT_EQ(machine.unified_memory->page, Bytes{64} << 10);
  EXPECT_EQ(machine.unified_memory->block, Bytes{2} << 20);
  EXPECT_FALSE(read_machine(small(device), "m.toml").unified_memory.has_value());
  EXPECT_EQ(refusal(small(device + "[unified_memory]\nbatch_pages = 20\nbatch_microseconds = 58\n")),
            "m.toml:29: page_microseconds of [unified_memory] is missing");
  EXPECT_THAT(refusal(small(device + unified + "pages = 3\n")), HasSubstr("did you mean page?"));
  EXPECT_THAT(refusal(small(device + unified + "block = \"100KiB\"\n")),
              HasSubstr("block of [unified_memory] must be a multiple of `page`"));
  EXPECT_THAT(refusal(small(unified)), HasSubstr("the machine has no [[device]]"));
}

TEST(MachineDescription, RejectsErrorsWithLineAndReason) {
  EXPECT_THAT(refusal("name = "), HasSubstr("m.toml:1: not TOML"));
  EXPECT_EQ(refusal("name = \"x\"\n"), "m.toml:1: summary of a machine is missing");
  EXPECT_EQ(refusal(small("[[device]]\nproccessor = \"card\"\n")),
            "m.toml:24: processor of a [[device]] is missing; is it what line 25 calls \"proccessor\"?");
  EXPECT_EQ(refusal(small(device + "stream = 2\n")),
            "m.toml:29: a [[device]] has no key \"stream\" (did you mean streams?); its keys are bandwidth, "
            "bandwidth_back, buses, count, "
            "duplex, latency_microseconds, memory, name, on_cores, processor, streams, together");
  EXPECT_EQ(refusal(small(device + "buses = [\"pci\"]\n")),
            "m.toml: gpu 0 goes through the bus \"pci\", which no [[bus]] describes");
  EXPECT_EQ(
      refusal(small(device + "[[peers]]\nbetween = [[0, 2]]\nbandwidth = \"1GB/s\"\n")),
      "m.toml:30: between of a [[peers]] connects devices 0 and 2, but must name two of the devices 0 to 1");
  EXPECT_EQ(refusal(small("[[peers]]\nbetween = [[0, 1]]\nbandwidth = \"1GB/s\"\n")),
            "m.toml:25: between of a [[peers]] needs two devices; there are 0");
  EXPECT_EQ(refusal(small(device + "[[peers]]\nbetween = [[0, 1], [1, 0]]\nbandwidth = \"1GB/s\"\n")),
            "m.toml:30: between of a [[peers]] connects devices 0 and 1 again");
  EXPECT_THAT(refusal(small("[[device]]\nprocessor = \"cart\"\nmemory = \"1GB\"\nbandwidth = \"1GB/s\"\n")),
              HasSubstr("describes no processor \"cart\" (did you mean card?)"));
  EXPECT_THAT(refusal(small("[[device]]\nprocessor = \"card\"\nmemory = \"much\"\nbandwidth = \"1GB/s\"\n")),
              HasSubstr("m.toml:26: memory of a [[device]] is \"much\", but must be a size"));
  EXPECT_THAT(refusal(small("[disk]\nbandwidth = \"350\"\n")), HasSubstr("must be a bandwidth such as"));
  EXPECT_THAT(refusal(small(device + "on_cores = 3\n")),
              HasSubstr("on_cores of a [[device]] is 3, more than the 2 cores of the [host]"));
  EXPECT_THAT(refusal(small(device + "on_cores = 1\ntogether = 2\n")), HasSubstr("this one has on_cores"));
  EXPECT_THAT(refusal(small("[[devices]]\nprocessor = \"card\"\n")), HasSubstr("(did you mean device?)"));
}

// Each of these could be parsed, but would describe a different machine than intended.
TEST(MachineDescription, RejectsDuplicateAndIncompleteEntries) {
  const auto with = [](std::string text, const std::string& what, const std::string& instead) {
    return text.replace(text.find(what), what.size(), instead);
  };
  const std::string bus = "[[bus]]\nname = \"b\"\nbandwidth = \"1GB/s\"\n";
  EXPECT_EQ(refusal(small(device + bus)), "accepted");
  EXPECT_THAT(refusal(small(bus + bus)), HasSubstr("name of a [[bus]] is \"b\" a second time"));
  EXPECT_THAT(refusal(small(device + "buses = [\"b\", \"b\"]\n" + bus)),
              HasSubstr("through the bus \"b\" twice"));
  EXPECT_THAT(refusal(with(small(), "by_side", "precision = \"single\"\nby_side")),
              HasSubstr("again in the same precision"));
  EXPECT_THAT(refusal(with(small(), "by_side", "gflops = 3\nby_side")),
              HasSubstr("is not allowed with by_side"));
  for (const char* rate : {"1e-300", "1e13", "0"})
    EXPECT_THAT(refusal(with(small(), "[300, 500]", std::string("[300, ") + rate + "]")),
                HasSubstr("rates from 1e-06 to 1e+12"));
  EXPECT_THAT(refusal(small(with(device, "card", "core"))), HasSubstr("of kind \"cuda\" or \"opencl\""));
  EXPECT_THAT(refusal(small(with(device, "1GB\"", "1\""))),
              HasSubstr("at least 64KiB: is its unit missing?"));
  EXPECT_THAT(refusal(with(small(), "4GiB", "4")), HasSubstr("memory of [host] is \"4\""));
  EXPECT_THAT(refusal(with(small(), "\"small\"", "\"\"")), HasSubstr("must be one line, and not empty"));
  for (const std::string pairs : {"[]", "[[0, 0.5]]", "[[0, \"1\"]]", "[[0]]"})
    EXPECT_THAT(refusal(small(device + "[[peers]]\nbandwidth = \"1GB/s\"\nbetween = " + pairs + "\n")),
                HasSubstr("must be pairs of devices, as in [[0, 1], [2, 3]]"));
}

TEST(MachineDescription, ReadsNestedGroupsOfCores) {
  const auto with = [](const std::string& groups) {
    std::string text = small();
    text.replace(text.find("cores = 2"), 9, "cores = 8\ncores_together = " + groups);
    return text;
  };
  EXPECT_EQ(read_machine(with("[4, 2]"), "m.toml").core_group_sizes, (std::vector<std::size_t>{4, 2}));
  EXPECT_TRUE(read_machine(small(), "m.toml").core_group_sizes.empty());
  for (const char* wrong : {"[8]", "[3]", "[4, 4]", "[2, 4]", "[4, 1]", "[2.5]", "[-2]"})
    EXPECT_THAT(refusal(with(wrong)), HasSubstr("each a divisor of the one before")) << wrong;
}

}  // namespace
}  // namespace fairlead::machine
