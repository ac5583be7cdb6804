// Limits of control groups: version 1, version 2, both; in containers and on hosts; on every level.
#include "machine/cgroup.hpp"

#include "machine/planted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

namespace fairlead::machine {

namespace {

constexpr const char* unlimited_v1 = "9223372036854771712";

std::vector<std::string> directories(const Planted& machine, std::string_view controller) {
  std::vector<std::string> out;
  for (const CgroupLevel& level : cgroup_levels(machine.files(), controller)) out.push_back(level.directory);
  return out;
}

MemoryLimit tightest(const Planted& machine) {
  const auto limits = memory_limits(machine.files());
  const auto least = std::ranges::min_element(limits, {}, &MemoryLimit::free_bytes);
  return least == limits.end() ? MemoryLimit{} : *least;
}

}  // namespace

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Levels, ListTheGroupsUpToTheRoot) {
  Planted machine;
  machine.v2("/user.slice/job.scope");
  EXPECT_THAT(directories(machine, "memory"), ElementsAre("/sys/fs/cgroup/user.slice/job.scope",
                                                          "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"));
}

TEST(Levels, OfVersion1FollowTheControllersMount) {
  Planted machine;
  machine.v1("/slurm/job_7");
  EXPECT_THAT(directories(machine, "memory"),
              ElementsAre("/sys/fs/cgroup/memory/slurm/job_7", "/sys/fs/cgroup/memory/slurm",
                          "/sys/fs/cgroup/memory"));
  EXPECT_THAT(directories(machine, "cpu"),
              ElementsAre("/sys/fs/cgroup/cpu,cpuacct/slurm/job_7", "/sys/fs/cgroup/cpu,cpuacct/slurm",
                          "/sys/fs/cgroup/cpu,cpuacct"));
}

// Docker with version 1: /proc/self/cgroup has the host's path, but only the container's part is mounted.
TEST(Levels, OfAContainerThatSeesItsOwnGroupAsTheRoot) {
  Planted machine;
  machine.v1("/docker/1a2b", "/docker/1a2b");
  EXPECT_THAT(directories(machine, "memory"), ElementsAre("/sys/fs/cgroup/memory"));
}

TEST(Levels, OfAGroupBelowWhatAContainerSees) {
  Planted machine;
  machine.v1("/docker/1a2b/inner", "/docker/1a2b");
  EXPECT_THAT(directories(machine, "memory"),
              ElementsAre("/sys/fs/cgroup/memory/inner", "/sys/fs/cgroup/memory"));
}

// Not a parent directory, only a name that begins alike; and a process moved out of its namespace.
TEST(Levels, OfAnInvisibleGroupAreTheMountOnly) {
  Planted machine;
  machine.v1("/docker/1a2b", "/docker/1a");
  EXPECT_THAT(directories(machine, "memory"), ElementsAre("/sys/fs/cgroup/memory"));
  machine.v2("/../other");
  EXPECT_THAT(directories(machine, "memory"), ElementsAre("/sys/fs/cgroup"));
}

TEST(Levels, AreNoneWithoutControlGroups) {
  Planted machine;
  EXPECT_THAT(directories(machine, "memory"), IsEmpty());
  EXPECT_FALSE(cpu_quota(machine.files()));
  EXPECT_THAT(memory_limits(machine.files()), IsEmpty());
}

TEST(CpuQuota, OfVersion2IsQuotaOverPeriod) {
  Planted machine;
  machine.v2("/").file("/sys/fs/cgroup/cpu.max", "150000 100000");
  const auto quota = cpu_quota(machine.files());
  ASSERT_TRUE(quota);
  EXPECT_DOUBLE_EQ(quota->processors, 1.5);
  EXPECT_EQ(quota->source, "/sys/fs/cgroup/cpu.max");
}

TEST(CpuQuota, OfVersion1IsQuotaOverPeriod) {
  Planted machine;
  machine.v1("/docker/1a2b", "/docker/1a2b");
  machine.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "75000");
  machine.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000");
  const auto quota = cpu_quota(machine.files());
  ASSERT_TRUE(quota);
  EXPECT_DOUBLE_EQ(quota->processors, 1.5);
  EXPECT_EQ(quota->source, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us");
}

TEST(CpuQuota, IsNoneForMaxOrMinusOne) {
  Planted second;
  second.v2("/a").file("/sys/fs/cgroup/a/cpu.max", "max 100000");
  EXPECT_FALSE(cpu_quota(second.files()));
  Planted first;
  first.v1("/a").file("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1");
  first.file("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  EXPECT_FALSE(cpu_quota(first.files()));
}

TEST(CpuQuota, IsTheTightestOfAllLevels) {
  Planted machine;
  machine.v2("/pod/container");
  machine.file("/sys/fs/cgroup/pod/container/cpu.max", "400000 100000");
  machine.file("/sys/fs/cgroup/pod/cpu.max", "250000 100000");
  machine.file("/sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_DOUBLE_EQ(cpu_quota(machine.files())->processors, 2.5);
  EXPECT_EQ(cpu_quota(machine.files())->source, "/sys/fs/cgroup/pod/cpu.max");
}

TEST(CpuQuota, OfAMixedSystemIsVersion1s) {
  Planted machine;
  machine.mixed("/job", "/user.slice");
  machine.file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000");
  machine.file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(cpu_quota(machine.files())->processors, 3.0);
}

TEST(MemoryLimits, OfVersion2ExcludeReclaimableCache) {
  Planted machine;
  machine.v2("/").v2_memory("/sys/fs/cgroup", "2147483648", "1610612736", "1073741824");
  const MemoryLimit limit = tightest(machine);
  EXPECT_EQ(limit.limit_bytes, 2 * GiB);
  EXPECT_EQ(limit.used_bytes, 512 * MiB);
  EXPECT_EQ(limit.free_bytes(), 1536 * MiB);
  EXPECT_EQ(limit.source, "/sys/fs/cgroup/memory.max");
}

TEST(MemoryLimits, OfVersion1CountTheCacheOfTheWholeSubtree) {
  Planted machine;
  machine.v1("/docker/1a2b", "/docker/1a2b");
  machine.v1_memory("/sys/fs/cgroup/memory", "2147483648", "1610612736", "1073741824");
  EXPECT_EQ(tightest(machine).free_bytes(), 1536 * MiB);
  EXPECT_EQ(tightest(machine).source, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
}

TEST(MemoryLimits, AreNoneIfUnlimited) {
  Planted second;
  second.v2("/a")
      .v2_memory("/sys/fs/cgroup/a", "max", "1000", "0")
      .file("/sys/fs/cgroup/a/memory.high", "max");
  EXPECT_THAT(memory_limits(second.files()), IsEmpty());
  Planted first;
  first.v1("/a").v1_memory("/sys/fs/cgroup/memory/a", unlimited_v1, "1000", "0");
  EXPECT_THAT(memory_limits(first.files()), IsEmpty());
}

// A parent with a larger limit may have less free memory, since it contains other groups as well.
TEST(MemoryLimits, TheLevelWithTheLeastFreeMemoryCounts) {
  Planted machine;
  machine.v2("/pod/container");
  machine.v2_memory("/sys/fs/cgroup/pod/container", "4294967296", "1073741824", "0");  // 4 GiB less 1
  machine.v2_memory("/sys/fs/cgroup/pod", "8589934592", "7516192768", "0");            // 8 GiB less 7
  EXPECT_EQ(tightest(machine).free_bytes(), 1 * GiB);
  EXPECT_EQ(tightest(machine).source, "/sys/fs/cgroup/pod/memory.max");
}

TEST(MemoryLimits, TheHighMarkOfVersion2IsALimit) {
  Planted machine;
  machine.v2("/a")
      .v2_memory("/sys/fs/cgroup/a", "max", "0", "0")
      .file("/sys/fs/cgroup/a/memory.high", "1073741824");
  EXPECT_EQ(tightest(machine).limit_bytes, 1 * GiB);
  EXPECT_EQ(tightest(machine).source, "/sys/fs/cgroup/a/memory.high");
}

TEST(MemoryLimits, ExceededLeaveNoMemory) {
  Planted machine;
  machine.v2("/a").v2_memory("/sys/fs/cgroup/a", "1000000", "2000000", "0");
  EXPECT_EQ(tightest(machine).free_bytes(), 0u);
}

TEST(MemoryLimits, OfAMixedSystemAreVersion1s) {
  Planted machine;
  machine.mixed("/job", "/user.slice");
  machine.v1_memory("/sys/fs/cgroup/memory/job", "1073741824", "0", "0");
  machine.file("/sys/fs/cgroup/unified/user.slice/cgroup.procs", "1");
  EXPECT_EQ(tightest(machine).source, "/sys/fs/cgroup/memory/job/memory.limit_in_bytes");
}

TEST(MemoryLimits, OfVersion1AboveTheMountAreReadFromItsStatistics) {
  Planted machine;
  machine.v1("/pod/1a2b", "/pod/1a2b");
  machine.v1_memory("/sys/fs/cgroup/memory", unlimited_v1, "0", "0\nhierarchical_memory_limit 536870912");
  EXPECT_EQ(tightest(machine).limit_bytes, 512 * MiB);
  EXPECT_EQ(tightest(machine).source, "/sys/fs/cgroup/memory/memory.stat");
}

TEST(MemoryLimits, OfVersion1ParentsWithoutHierarchyDoNotCount) {
  Planted machine;
  machine.v1("/a/b");
  machine.v1_memory("/sys/fs/cgroup/memory/a/b", "2147483648", "0", "0");
  machine.v1_memory("/sys/fs/cgroup/memory/a", "1073741824", "0", "0");
  EXPECT_EQ(tightest(machine).limit_bytes, 1 * GiB);
  machine.file("/sys/fs/cgroup/memory/a/memory.use_hierarchy", "0");
  EXPECT_EQ(tightest(machine).limit_bytes, 2 * GiB);
}

}  // namespace fairlead::machine
