// Detection of the properties of a directory's disk.
#include "machine/disk.hpp"

#include <fairlead/error.hpp>

#include "machine/mounts.hpp"
#include "machine/planted.hpp"

#include <gtest/gtest.h>
#include <filesystem>

namespace fairlead::machine {

namespace {

std::string refusal_of_disk(const std::string& directory) {
  try {
    disk_of(directory);
  } catch (const SystemError& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

}  // namespace

TEST(Disk, IsProbedWithoutLeavingFiles) {
  const Planted directory;
  const Disk disk = disk_of(directory.root());
  EXPECT_EQ(disk.directory, std::filesystem::canonical(directory.root()));
  EXPECT_FALSE(disk.file_system.empty());
  EXPECT_TRUE(disk.writable);
  EXPECT_GT(disk.total_bytes, 0u);
  EXPECT_LE(disk.free_bytes, disk.total_bytes);
  EXPECT_TRUE(std::filesystem::is_empty(directory.root()));
  if (disk.direct_io) {
    EXPECT_GT(disk.offset_alignment_bytes, 0u);
    EXPECT_EQ(4096u % disk.offset_alignment_bytes, 0u);
  }
}

TEST(Disk, AFileSystemInMemoryIsDetected) {
  if (!std::filesystem::is_directory("/dev/shm") || disk_of("/dev/shm").file_system != "tmpfs")
    GTEST_SKIP() << "/dev/shm is no tmpfs here";
  EXPECT_TRUE(disk_of("/dev/shm").in_memory);
  EXPECT_EQ(disk_of("/dev/shm").mounted_at, "/dev/shm");
}

TEST(Disk, ReportsWhyADirectoryIsNotWritable) {
  const Disk disk = disk_of("/proc");
  EXPECT_FALSE(disk.writable);
  EXPECT_FALSE(disk.write_error.empty());
  EXPECT_FALSE(disk.direct_io);
  EXPECT_EQ(disk.file_system, "proc");
}

TEST(Disk, RejectsAMissingDirectoryByName) {
  EXPECT_EQ(refusal_of_disk("/no/such/place"),
            "cannot use the directory /no/such/place: No such file or directory");
  EXPECT_EQ(refusal_of_disk("/proc/version"), "cannot use the directory /proc/version: Not a directory");
}

TEST(Mounts, AreParsedWithBlanksAndOptionalFields) {
  Planted machine;
  machine.file(
      "/proc/self/mountinfo",
      "36 35 98:0 /a /mnt/my\\040disk rw,noatime master:1 shared:2 - ext4 /dev/root rw,errors=continue\n"
      "not a line of this file");
  const auto found = read_mounts(machine.files());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].root, "/a");
  EXPECT_EQ(found[0].point, "/mnt/my disk");
  EXPECT_EQ(found[0].type, "ext4");
  EXPECT_EQ(found[0].source, "/dev/root");
  EXPECT_EQ(found[0].super_options, "rw,errors=continue");
}

}  // namespace fairlead::machine
