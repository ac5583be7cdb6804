// The memory that receives values of other ranks: times computed by hand from the links that a value crosses; and all
// placements on all kinds of nodes, also with little memory on the devices.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <cstddef>
#include <string>

#include "at_length.hpp"
#include "machine/machine_files.hpp"
#include "simulate/cluster/cluster.hpp"
#include "simulate/cluster/part_of_node.hpp"

namespace fairlead::simulate {
namespace {

using front::ReceivePlacement;

/// Nodes of one core and some devices of 1 GFlop/s each; wires of 2 GB/s to the host, a network of 1 GB/s.
machine::MachineDescription node_of(std::size_t devices, bool attached) {
  return machine::read_machine(
      "name = \"m\"\nsummary = \"made up\"\nsource = \"made up\"\n"
      "[processor.core]\nkind = \"cpu\"\n[[processor.core.rate]]\nkernel = \"*\"\ngflops = 1\n"
      "[processor.card]\nkind = \"cuda\"\n[[processor.card.rate]]\nkernel = \"*\"\ngflops = 1\n"
      "[host]\ncores = 1\ncore = \"core\"\nmemory = \"1GB\"\n"
      "[[device]]\nname = \"card\"\ncount = " +
          std::to_string(devices) +
          "\nprocessor = \"card\"\nmemory = \"1GB\"\nbandwidth = \"2GB/s\"\nlatency_microseconds = 0\n"
          "[network]\nnodes = 16\nbandwidth = \"1GB/s\"\nlatency_microseconds = 10\n" +
          (attached ? "attached_to_devices = true\n" : ""),
      "m.toml");
}

ClusterResult run(const machine::MachineDescription& node, ReceivePlacement landing, std::int64_t tiles,
                  std::int32_t p, std::int32_t q, const char* policy = "owner-user",
                  std::optional<Bytes> device_memory = {}, std::int64_t tile = 100,
                  const char* workload = "cholesky") {
  const Blueprint blueprint(workload, {tiles * tile, tile, Precision::double_},
                            {.rank_rows = p, .rank_columns = q});
  return simulate(blueprint, node, {.cores = 0, .device_memory = device_memory},
                  {.policy = policy, .advice = Advice::cyclic, .landing = landing});
}

// potrf on rank 0, then trsm, syrk, potrf on rank 1: the diagonal tile of 80,000 bytes goes there between them, after an
// activate and a request; each wire takes 40 microseconds, the network 80.
TEST(ReceivePlacement, TakesTheTimeOfTheCrossedLinks) {
  const double n = 100, wire = 40, network = 80 + 3 * 10;
  const double potrf = n * n * n / 3 + n * n / 2 + n / 6, trsm = n * n * n, syrk = n * n * (n + 1);
  const double computing = (2 * potrf + trsm + syrk) * 1e-3;
  const double own_tiles =
      3 * wire;  // rank 0's, and rank 1's two, each when the first task that changes it is ready
  const auto beyond = [&](bool attached, ReceivePlacement landing) {
    return run(node_of(1, attached), landing, 2, 2, 1).seconds * 1e6 - computing - own_tiles;
  };
  // Through the hosts: from one device, and to the other.
  EXPECT_NEAR(beyond(false, ReceivePlacement::host), wire + network + wire, 2);
  // From device to device: the wires are crossed while the network is.
  EXPECT_NEAR(beyond(false, ReceivePlacement::advised), network, 2);
  EXPECT_NEAR(beyond(true, ReceivePlacement::advised), network, 2);
  // Behind the devices the hosts are farther away: there and back, but both while the network is crossed.
  EXPECT_NEAR(beyond(true, ReceivePlacement::host), wire + network + wire, 2);
}

// If the network is not the bottleneck, crossing a device's link twice is.
TEST(ReceivePlacement, InTheHostsMemoryIsFarFromInterfacesAtDevices) {
  machine::MachineDescription node = node_of(1, true);
  node.network.link.bytes_per_second = 100e9;
  const double host = run(node, ReceivePlacement::host, 8, 2, 2, "owner-user", {}, 200).seconds;
  const double device = run(node, ReceivePlacement::advised, 8, 2, 2, "owner-user", {}, 200).seconds;
  EXPECT_LT(device, host);
}

TEST(ReceivePlacement, HasTheSameTasksAndMessagesForAllPlacements) {
  constexpr Bytes page = 4096, tile = (200 * 200 * 8 + page - 1) / page * page;
  std::size_t turn = 0;
  for (const char* const workload : {"cholesky", "lu", "gemm"}) {
    std::optional<net::NetworkTraffic> traffic;
    for (const bool attached : {false, true})
      for (const ReceivePlacement landing :
           {ReceivePlacement::host, ReceivePlacement::advised, ReceivePlacement::random})
        for (const char* const policy : {"lws", "owner-user", "owner-random", "near"})
          for (const Bytes memory : {Bytes{1'000'000'000}, 12 * tile, 4 * tile}) {
            if (tests::left_out(turn++, 7)) continue;
            SCOPED_TRACE(std::string(workload) + " " + policy + (attached ? " attached" : "") + " into " +
                         std::to_string(static_cast<int>(landing)) + ", " + std::to_string(memory / tile) +
                         " tiles");
            const ClusterResult result =
                run(node_of(2, attached), landing, 6, 2, 2, policy, memory, 200, workload);
            net::NetworkTraffic its = result.traffic();
            if (!traffic) traffic = its;
            EXPECT_EQ(its, *traffic);
            std::uint64_t tasks = 0;
            for (const RankResult& rank : result.ranks) {
              tasks += rank.tasks;
              EXPECT_EQ(rank.to_disk, 0u);
            }
            EXPECT_EQ(tasks, result.tasks);
          }
  }
}

TEST(ReceivePlacement, IntoDevicesSavesCopiesToThem) {
  const machine::MachineDescription frontier = part_of_node(machine::load_machine("frontier"), 4);
  const auto of = [&](ReceivePlacement landing) {
    return run(frontier, landing, 16, 2, 4, "owner-user", {}, 1024);
  };
  const auto loaded = [](const ClusterResult& result) {
    Bytes bytes = 0;
    for (const RankResult& rank : result.ranks) bytes += rank.bytes_to_devices;
    return bytes;
  };
  const ClusterResult host = of(ReceivePlacement::host), advised = of(ReceivePlacement::advised),
                      random = of(ReceivePlacement::random);
  EXPECT_GE(loaded(host), loaded(advised) + host.traffic().payload_bytes);
  EXPECT_GE(loaded(host), loaded(random) + host.traffic().payload_bytes);
  EXPECT_LT(advised.seconds, host.seconds);
}

}  // namespace
}  // namespace fairlead::simulate
