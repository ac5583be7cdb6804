// The kernel's counts, from planted files and from this process.
#include "report/resident.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <memory>

#include "machine/planted.hpp"
#include "sanitized.hpp"

namespace fairlead::report {

using machine::Planted;

TEST(Resident, ThePeakIsTheKernelsHighWaterMark) {
  Planted tree;
  tree.file("/proc/self/status",
            "Name:\tfairlead\nVmPeak:\t 9999999 kB\nVmSize:\t 8888888 kB\nVmHWM:\t  123456 kB\nVmRSS:\t   "
            "98765 kB");
  EXPECT_EQ(peak_resident_bytes(tree.root()), Bytes(123456) * 1024);
}

TEST(Resident, IsUnknownWithoutTheFileOrTheLine) {
  Planted tree;
  EXPECT_EQ(peak_resident_bytes(tree.root()), std::nullopt);
  EXPECT_EQ(disk_counters(tree.root()), std::nullopt);
  tree.file("/proc/self/status", "Name:\tfairlead\nVmHWM:\tmuch kB")
      .file("/proc/self/io", "rchar: 5\nread_bytes: 7");
  EXPECT_EQ(peak_resident_bytes(tree.root()), std::nullopt);
  EXPECT_EQ(disk_counters(tree.root()), std::nullopt);
}

TEST(Resident, FilesAreOfTheKernelsCountAndTheHeapOfMallocs) {
  Planted tree;
  EXPECT_FALSE(resident_parts(tree.root()));
  tree.file("/proc/self/status", "RssAnon:\t 777 kB\nRssFile:\t     4096 kB\nRssShmem:\t 0 kB");
  EXPECT_EQ(resident_parts(tree.root())->files, Bytes(4) << 20);
  if (tests::address_sanitized) return;  // its malloc has no counts
  const Bytes before = resident_parts(tree.root())->heap;
  const auto memory = std::make_unique<char[]>(3 << 20);
  ASSERT_NE(memory, nullptr);
  EXPECT_GE(resident_parts(tree.root())->heap, before + (Bytes(3) << 20));
}

TEST(Resident, OnlyDiskTrafficToDevicesCounts) {
  Planted tree;
  tree.file("/proc/self/io",
            "rchar: 323934931\nwchar: 323929600\nsyscr: 632687\nsyscw: 632675\nread_bytes: 4096\n"
            "write_bytes: 323932160\ncancelled_write_bytes: 512");
  EXPECT_EQ(disk_counters(tree.root()), (DiskCounters{4096, 323932160}));
}

TEST(Resident, TheInitialCountIsSubtracted) {
  EXPECT_EQ((DiskCounters{10, 30} - DiskCounters{4, 10}), (DiskCounters{6, 20}));
}

TEST(Resident, TouchedMemoryRaisesThePeakOfThisProcess) {
  constexpr std::size_t size = 64 << 20;
  const Bytes before = peak_resident_bytes().value();
  auto memory = std::make_unique<char[]>(size);
  std::memset(memory.get(), 1, size);
  ASSERT_EQ(memory[size / 2], 1);
  EXPECT_GE(peak_resident_bytes().value(), before + size / 2);
}

}  // namespace fairlead::report
