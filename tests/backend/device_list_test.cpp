// Lists of devices: their distribution to the ranks of a machine, and the shares of their memory.
#include "backend/device_list.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fairlead::backend {
namespace {

std::string part(const std::string& list, std::size_t place, std::size_t ranks) {
  return devices_of_rank(list, default_backends(), place, ranks);
}

}  // namespace

TEST(DeviceList, OneRankHasAllDevices) {
  EXPECT_EQ(part("cuda:0,memory=8MiB + cuda:1,memory=4MiB", 0, 1), "cuda:0,memory=8MiB + cuda:1,memory=4MiB");
  EXPECT_EQ(part("", 0, 1), "");
  EXPECT_EQ(part("none", 1, 2), "none");
}

TEST(DeviceList, DevicesAreDistributedInOrder) {
  const std::string list =
      "cuda:0,memory=1MiB + cuda:1,memory=2MiB + cuda:2,memory=3MiB + cuda:3,memory=4MiB";
  EXPECT_EQ(part(list, 0, 2), "cuda:0,memory=1MiB + cuda:1,memory=2MiB");
  EXPECT_EQ(part(list, 1, 2), "cuda:2,memory=3MiB + cuda:3,memory=4MiB");
  EXPECT_EQ(part("opencl:0,memory=1MiB,count=3", 2, 3), "opencl:0,memory=1MiB");
}

TEST(DeviceList, RanksThatShareADeviceHaveEqualSharesOfItsMemory) {
  const std::string list = "cuda:0,memory=8MiB,streams=2 + cuda:1,memory=3MiB";
  EXPECT_EQ(part(list, 0, 3), "cuda:0,memory=4194304B,streams=2");
  EXPECT_EQ(part(list, 1, 3), "cuda:0,memory=4194304B,streams=2");
  EXPECT_EQ(part(list, 2, 3), "cuda:1,memory=3MiB");
}

TEST(DeviceList, ShowsTheShareOfEachRank) {
  const auto shares = [](const std::string& list, std::size_t ranks) {
    return devices_by_rank(list, default_backends(), ranks);
  };
  EXPECT_EQ(shares("cuda:0,memory=1MiB + cuda:1,memory=2MiB", 2),
            "rank 0: cuda:0,memory=1MiB; rank 1: cuda:1,memory=2MiB");
  EXPECT_EQ(shares("cuda:0,memory=1MiB", 1), "");
  EXPECT_EQ(shares("none", 2), "");
}

// For any numbers: no memory is given to two ranks, and every device has a rank.
TEST(DeviceList, TheRanksTogetherHaveAllDevices) {
  for (std::size_t devices = 1; devices <= 6; ++devices)
    for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
      std::string list;
      for (std::size_t i = 0; i < devices; ++i)
        list += (i == 0 ? "" : " + ") + ("cuda:" + std::to_string(i)) + ",memory=1GiB";
      std::map<std::string, Bytes> taken;
      for (std::size_t place = 0; place < ranks; ++place) {
        const auto own = devices_from(part(list, place, ranks), default_backends());
        EXPECT_GE(own.size(), 1u);
        for (const DeviceEntry& one : own) {
          const std::size_t comma = one.text.find(',');
          taken[one.text.substr(one.text.find("cuda"), comma - one.text.find("cuda"))] +=
              *smallest_shared_device_memory(one.text, default_backends());
        }
      }
      EXPECT_EQ(taken.size(), devices) << ranks;
      for (const auto& [name, bytes] : taken) {
        EXPECT_LE(bytes, Bytes{1} << 30) << name << " of " << devices << " by " << ranks;
        EXPECT_GT(bytes, (Bytes{1} << 30) - ranks) << name;
      }
    }
}

TEST(DeviceList, EachRankHasAllEmulatedDevices) {
  EXPECT_EQ(part("emulated:memory=1MiB + cuda:0,memory=2MiB", 1, 2),
            "emulated:memory=1MiB + cuda:0,memory=1048576B");
  EXPECT_EQ(part("emulated:memory=1MiB,count=2", 1, 2), "emulated:memory=1MiB + emulated:memory=1MiB");
}

TEST(DeviceList, FindsTheSmallestOfTheMachine) {
  EXPECT_EQ(smallest_shared_device_memory("cuda:0,memory=8MiB + opencl:0,memory=4MiB + emulated:memory=1MiB",
                                          default_backends()),
            Bytes{4} << 20);
  EXPECT_FALSE(smallest_shared_device_memory("emulated:memory=1MiB", default_backends()).has_value());
}

TEST(DeviceList, MayBeEmpty) { EXPECT_TRUE(devices_from(" none ", default_backends()).empty()); }

}  // namespace fairlead::backend
