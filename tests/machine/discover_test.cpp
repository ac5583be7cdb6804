// Discovery of workers and memory, on machines of several sizes.
#include <fairlead/error.hpp>

#include "machine/machine.hpp"
#include "machine/planted.hpp"
#include "machine/topology.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

namespace fairlead::machine {

namespace {

Machine look_at(const Planted& planted, const std::string& processors = "numa:1 core:8 pu:1") {
  return discover({.root = planted.root(), .synthetic_processors = processors});
}

}  // namespace

TEST(Discover, FindsTheQuotaAndTheMemoryLimitOfAContainer) {
  Planted version_2;
  version_2.host()
      .v2("/")
      .v2_memory("/sys/fs/cgroup", "2147483648", "0", "0")
      .file("/sys/fs/cgroup/cpu.max", "150000 100000");
  Planted version_1;
  version_1.host()
      .v1("/docker/1a2b", "/docker/1a2b")
      .v1_memory("/sys/fs/cgroup/memory", "2147483648", "0", "0");
  version_1.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000");
  version_1.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  for (const Planted* planted : {&version_2, &version_1}) {
    const Machine machine = look_at(*planted);
    EXPECT_EQ(machine.workers, 1u);
    EXPECT_EQ(machine.memory.limit_bytes, 2 * GiB);
    EXPECT_EQ(machine.memory.free_bytes, 2 * GiB);
    EXPECT_EQ(machine.memory.usable_bytes(), 2 * GiB - 256 * MiB);
  }
  EXPECT_EQ(look_at(version_2).workers_reason, "1 of 8 cores: the CPU quota is 1.5 (/sys/fs/cgroup/cpu.max)");
}

TEST(Workers, AreOnePerCoreWithoutLimits) {
  Planted machine;
  machine.host();
  EXPECT_EQ(look_at(machine).workers, 8u);
  EXPECT_EQ(look_at(machine).workers_reason, "all 8 cores");
  EXPECT_EQ(look_at(machine, "numa:1 core:1 pu:1").workers_reason, "the only core");
}

TEST(Workers, AreOnePerCoreNotPerHardwareThread) {
  Planted machine;
  machine.host();
  const Machine found = look_at(machine, "numa:2 core:4 pu:2");
  EXPECT_EQ(found.workers, 8u);
  EXPECT_EQ(found.processors.hardware_threads, 16u);
  EXPECT_EQ(found.workers_reason,
            "all 8 cores; one worker for each core, not for each of its 16 hardware threads");
}

TEST(Workers, AreAtLeastOneAndAtMostTheWholeCpusOfTheQuota) {
  const auto workers_with = [](const std::string& quota) {
    Planted machine;
    machine.host().v2("/").file("/sys/fs/cgroup/cpu.max", quota + " 100000");
    return look_at(machine).workers;
  };
  EXPECT_EQ(workers_with("30000"), 1u);
  EXPECT_EQ(workers_with("199900"), 2u);  // 2 CPUs, rounded down
  EXPECT_EQ(workers_with("399000"), 4u);
  EXPECT_EQ(workers_with("380000"), 3u);
  EXPECT_EQ(workers_with("800000"), 8u);
  EXPECT_EQ(workers_with("9900000"), 8u);
}

TEST(Numa, CoresBelongToTheirNodes) {
  const Processors found = detect_processors("numa:2 core:4 pu:2");
  ASSERT_EQ(found.numa_nodes.size(), 2u);
  EXPECT_EQ(found.numa_nodes[0].cores, 4u);
  EXPECT_EQ(found.numa_nodes[1].cores, 4u);
  EXPECT_EQ(found.cores[3].numa_node, 0u);
  EXPECT_EQ(found.cores[4].numa_node, 1u);
  EXPECT_EQ(found.cores[4].processing_unit, 8u);  // the first of the two of the fifth core
}

/// Number of levels of the hierarchy (caches, packages) between the first core and each other core.
std::vector<std::uint32_t> apart_from_the_first(const std::string& machine) {
  std::vector<std::uint32_t> apart;
  const Processors found = detect_processors(machine);
  const auto worker = [](const Core& core) {
    WorkerSpec spec;
    spec.domains = core.domains;
    return spec;
  };
  for (const Core& core : found.cores)
    apart.push_back(domain_distance(worker(found.cores.front()), worker(core)));
  return apart;
}

TEST(Distances, FollowSharedCachesThenPackagesThenTheMachine) {
  using Levels = std::vector<std::uint32_t>;
  EXPECT_EQ(apart_from_the_first("pack:2 l2:2 core:2 pu:2"), (Levels{0, 0, 1, 1, 2, 2, 2, 2}));
  // Two NUMA nodes in each package; a cache that spans the whole node is not a level of its own.
  EXPECT_EQ(apart_from_the_first("pack:2 numa:2 l3:1 core:2 pu:1"), (Levels{0, 0, 1, 1, 2, 2, 2, 2}));
  // A cache that spans a part of the node is a level.
  EXPECT_EQ(apart_from_the_first("numa:2 l3:2 core:2 pu:1"), (Levels{0, 0, 1, 1, 2, 2, 2, 2}));
}
TEST(Distances, AreZeroIfAllCoresShareAllLevels) {
  for (const char* machine : {"pack:1 numa:1 l3:1 core:4 pu:2", "l3:1 l2:4 core:1 pu:1", "core:1 pu:2"})
    for (const std::uint32_t level : apart_from_the_first(machine)) EXPECT_EQ(level, 0u) << machine;
}

TEST(Numa, TheOnlyNodeHasAllMemory) {
  Planted machine;
  machine.host();
  EXPECT_EQ(look_at(machine).processors.numa_nodes[0].memory_bytes, 64 * GiB);
}

// On the real processors: a thread bound to one processor sees one. A separate thread keeps the affinity of the
// other tests.
TEST(Affinity, AThreadBoundToOneProcessorSeesOneCore) {
  Planted machine;
  machine.host();
  std::thread([&] {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    unsigned last = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &before)) last = cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const Machine found = discover({.root = machine.root(), .synthetic_processors = {}});
    EXPECT_EQ(found.workers, 1u);
    ASSERT_EQ(found.processors.cores.size(), 1u);
    EXPECT_EQ(found.processors.cores[0].processing_unit, last);
    if (found.processors.cores_present > 1) {
      EXPECT_EQ(found.workers_reason, "1 of " + std::to_string(found.processors.cores_present) +
                                          " cores: this process may not run on the others (affinity mask: "
                                          "taskset, cpuset or a batch system)");
    }
  }).join();
}

TEST(Memory, WithoutLimitsIsMemAvailableOfTheKernel) {
  Planted machine;
  machine.host();
  const MachineMemory found = detect_memory(machine.files());
  EXPECT_EQ(found.total_bytes, 64 * GiB);
  EXPECT_EQ(found.free_bytes, 48 * GiB);
  EXPECT_FALSE(found.limit_bytes);
  EXPECT_EQ(found.usable_bytes(), 48 * GiB - 48 * GiB / 10);
}

TEST(Memory, WithoutMemAvailableIsFreePlusCaches) {
  Planted machine;
  machine.file("/proc/meminfo",
               "MemTotal: 4096 kB\nMemFree: 1024 kB\nBuffers: 100 kB\nCached: 200 kB\nSwapCached: 7 kB");
  EXPECT_EQ(detect_memory(machine.files()).available_bytes, 1324u * 1024);
}

TEST(Memory, ALimitAboveTheMachinesMemoryIsIgnored) {
  Planted machine;
  machine.host().v2("/a").v2_memory("/sys/fs/cgroup/a", "137438953472", "0", "0");
  EXPECT_FALSE(detect_memory(machine.files()).limit_bytes);
}

// As set by ulimit -v or a batch system: 4 GiB, of which libraries use 1 GiB.
TEST(Memory, TheAddressSpaceLimitApplies) {
  Planted machine;
  machine.host()
      .file("/proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n"
            "Max cpu time              unlimited            unlimited            seconds   \n"
            "Max address space         4294967296           unlimited            bytes     ")
      .file("/proc/self/status", "Name:\tsolver\nVmSize:\t 1048576 kB\nVmRSS:\t    1024 kB");
  const MachineMemory found = detect_memory(machine.files(), 2);
  EXPECT_EQ(found.limit_bytes, 4 * GiB);
  EXPECT_EQ(found.free_bytes, 3 * GiB);
  EXPECT_EQ(found.usable_bytes(), 3 * GiB - 3 * GiB / 10 - 2 * addresses_of_each_worker);
  machine.file("/proc/self/limits",
               "Max address space         unlimited            unlimited            bytes     ");
  EXPECT_FALSE(detect_memory(machine.files()).limit_bytes);
}

TEST(Memory, AvailableMemoryBelowTheLimitApplies) {
  Planted machine;
  machine.file("/proc/meminfo", "MemTotal: 67108864 kB\nMemAvailable: 1048576 kB");
  machine.v2("/a").v2_memory("/sys/fs/cgroup/a", "8589934592", "0", "0");
  EXPECT_EQ(detect_memory(machine.files()).free_bytes, 1 * GiB);
  EXPECT_EQ(detect_memory(machine.files()).limit_bytes, 8 * GiB);
}

TEST(Memory, UnknownIsAnError) {
  Planted machine;
  EXPECT_THROW(detect_memory(machine.files()), SystemError);
}

TEST(Margin, IsATenthButAtLeast256MebibytesAndAtMostHalf) {
  EXPECT_EQ(memory_margin(100 * GiB), 10 * GiB);
  EXPECT_EQ(memory_margin(2 * GiB), 256 * MiB);
  EXPECT_EQ(memory_margin(100 * MiB), 50 * MiB);
  EXPECT_EQ(memory_margin(0), 0u);
}

TEST(Pages, HugePagesFollowTheKernelsSettings) {
  Planted machine;
  EXPECT_EQ(detect_pages(machine.files()).huge_pages, HugePageMode::unavailable);
  machine.file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152");
  machine.file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  EXPECT_EQ(detect_pages(machine.files()).huge_pages, HugePageMode::madvise);
  EXPECT_EQ(detect_pages(machine.files()).huge_page_bytes, 2 * MiB);
  machine.file("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  EXPECT_EQ(detect_pages(machine.files()).huge_pages, HugePageMode::never);
}

// The machine that runs the tests; nothing else is known about it.
TEST(Discover, TheRealMachineHasACoreAndMemory) {
  const Machine found = discover();
  EXPECT_GE(found.workers, 1u);
  EXPECT_LE(found.workers, found.processors.cores_present);
  EXPECT_GT(found.memory.total_bytes, 0u);
  EXPECT_LE(found.memory.free_bytes, found.memory.total_bytes);
  EXPECT_GE(found.processors.numa_nodes.size(), 1u);
}

}  // namespace fairlead::machine
