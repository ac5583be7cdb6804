// Spill files: unnamed, with reserved space, and errors that name the directory.
#include "backend/disk/spill_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "backend/disk/world.hpp"
#include "files_may_not_grow.hpp"

namespace fairlead::backend {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A new empty directory, removed at the end.
class Directory {
 public:
  Directory() : path_("spill-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp");
  }
  ~Directory() {
    while (mounted_ && umount2(path_.c_str(), MNT_DETACH) == 0) mounted_ = false;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  bool empty() const { return fs::is_empty(path_); }

  /// Mounts a small memory file system there, visible to this process only. Needs root; returns the error.
  std::string mount(const char* options, unsigned long flags = 0, const char* kind = "tmpfs") {
    if (unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(kind, path_.c_str(), kind, flags, options) != 0)
      return std::string("mounting a small disk needs root: ") + std::strerror(errno);
    mounted_ = true;
    return {};
  }

 private:
  std::string path_;
  bool mounted_ = false;
};

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const SystemError& error) {
    return error.what();
  }
  return "";
}

Bytes blocks_of(const SpillFile& file) {
  struct stat status {};
  EXPECT_EQ(fstat(file.descriptor(), &status), 0);
  return static_cast<Bytes>(status.st_blocks) * 512;
}

Bytes free_on(const std::string& path) {
  struct statvfs disk {};
  EXPECT_EQ(statvfs(path.c_str(), &disk), 0);
  return Bytes{disk.f_bavail} * disk.f_frsize;
}

}  // namespace

TEST(SpillFile, HasNoNameWhileInUse) {
  Directory directory;
  World world({}, directory.path().c_str());
  world.file.reserve(4 * MiB);
  Buffer memory(4 * MiB);
  ASSERT_EQ(world.run(world.write(0, memory.data(), 4 * MiB)).error_number, 0);
  EXPECT_TRUE(directory.empty());
}

TEST(SpillFile, ReservedSpaceIsAllocatedAtOnceAndFreedAtTheEnd) {
  Directory directory;
  {
    SpillFile file(directory.path());
    EXPECT_EQ(file.size(), 0u);
    file.reserve(8 * MiB);
    file.reserve(8 * MiB + 1);
    EXPECT_EQ(file.size(), 16 * MiB + file.alignment());
    EXPECT_GE(blocks_of(file), 16 * MiB);
  }
  EXPECT_TRUE(directory.empty());
}

TEST(SpillFile, SlotsAreAlignedAndTheFileGrowsOnlyWhenNoHoleIsLargeEnough) {
  SpillFile file(".");
  file.reserve(3 * MiB);
  const auto a = file.allocate(MiB + 5), b = file.allocate(MiB);
  EXPECT_EQ(a.offset % file.alignment(), 0u);
  EXPECT_EQ(a.bytes, MiB + file.alignment());
  EXPECT_EQ(b.offset, a.bytes);
  EXPECT_EQ(file.size(), 3 * MiB);
  file.allocate(4 * MiB);
  EXPECT_EQ(file.size(), 7 * MiB);
  file.release(a);
  EXPECT_EQ(file.allocate(MiB), (memory::ByteRange{0, MiB}));
  EXPECT_EQ(file.size(), 7 * MiB);
  EXPECT_THROW(file.release({a.offset + MiB, a.bytes - MiB}), UsageError);  // the rest is already free
  file.release(b);
  const Bytes is_free = file.size() - file.used_bytes();
  file.make_room(is_free);
  EXPECT_EQ(file.size(), 7 * MiB);
  file.make_room(is_free + MiB);
  EXPECT_EQ(file.size(), 8 * MiB);
}

TEST(SpillFile, AFullDiskIsAnErrorWithSizesAndLeavesTheFileUnchanged) {
  Directory directory;
  const std::string why_not = directory.mount("size=16m");
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  World world({}, directory.path().c_str());
  world.file.reserve(6 * MiB);
  Buffer memory(6 * MiB), again(6 * MiB);
  memory.fill(1);
  ASSERT_EQ(world.run(world.write(0, memory.data(), 6 * MiB)).error_number, 0);
  const Bytes free_before = free_on(directory.path());

  const std::string refused = refusal([&] { world.file.reserve(11 * MiB); });
  EXPECT_THAT(refused, HasSubstr(directory.path()));
  EXPECT_THAT(refused, HasSubstr("11534336 bytes"));  // requested
  EXPECT_THAT(refused, HasSubstr("10485760 bytes"));  // free
  EXPECT_THAT(refused, HasSubstr("Make room"));
  EXPECT_THAT(refusal([&] { world.file.allocate(11 * MiB); }), HasSubstr("11534336 bytes"));
  EXPECT_EQ(world.file.size(), 6 * MiB);
  EXPECT_EQ(free_on(directory.path()), free_before);
  EXPECT_EQ(blocks_of(world.file), 6 * MiB);
  ASSERT_EQ(world.run(world.read(0, again.data(), 6 * MiB)).error_number, 0);
  EXPECT_EQ(std::memcmp(memory.data(), again.data(), 6 * MiB), 0);
  EXPECT_NO_THROW(world.file.reserve(10 * MiB));  // the existing space is still usable
}

// Slots without disk space exist if they fit in memory, and may be written.
TEST(SpillFile, DataWrittenWithoutReservationStayWhenTheDiskIsFull) {
  Directory directory;
  const std::string why_not = directory.mount("size=16m");
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  World world({}, directory.path().c_str(), 64 * MiB);
  world.file.reserve(32 * MiB);
  Buffer memory(4 * MiB), again(4 * MiB);
  memory.fill(1);
  ASSERT_EQ(world.run(world.write(6 * MiB, memory.data(), 4 * MiB)).error_number, 0);
  const auto reads_the_same = [&] {
    again.fill(2);
    return world.run(world.read(6 * MiB, again.data(), 4 * MiB)).error_number == 0 &&
           std::memcmp(memory.data(), again.data(), 4 * MiB) == 0;
  };
  world.file.reserve(MiB);
  EXPECT_EQ(world.file.size(), 33 * MiB);
  EXPECT_TRUE(reads_the_same());
  EXPECT_THAT(refusal([&] { world.file.reserve(40 * MiB); }), HasSubstr("Make room"));  // more than fits
  EXPECT_EQ(world.file.size(), 33 * MiB);
  EXPECT_TRUE(reads_the_same());
}

TEST(SpillFile, HugeSizesAreRejectedWithTheSameError) {
  SpillFile file(".");
  EXPECT_THAT(refusal([&] { file.reserve(~Bytes{0}); }), HasSubstr("\".\""));
  EXPECT_THAT(refusal([&] { file.reserve(Bytes{1} << 60); }), HasSubstr("1152921504606846976 bytes"));
  EXPECT_EQ(file.size(), 0u);
}

TEST(SpillFile, TheErrorNamesAMissingDirectory) {
  const std::string refused = refusal([] { SpillFile file("no/such/directory"); });
  EXPECT_THAT(refused, HasSubstr("\"no/such/directory\""));
  EXPECT_THAT(refused, HasSubstr(std::strerror(ENOENT)));
}

TEST(SpillFile, TheErrorNamesAFileInPlaceOfTheDirectory) {
  Directory directory;
  const std::string path = directory.path() + "/plain";
  std::fclose(std::fopen(path.c_str(), "w"));
  EXPECT_THAT(refusal([&] { SpillFile file(path); }), HasSubstr(path));
}

TEST(SpillFile, TheErrorNamesAReadOnlyDirectory) {
  Directory directory;
  if (geteuid() == 0) {  // root ignores permissions
    const std::string why_not = directory.mount("size=1m", MS_RDONLY);
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  } else {
    fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
  }
  const std::string refused = refusal([&] { SpillFile file(directory.path()); });
  EXPECT_THAT(refused, HasSubstr("\"" + directory.path() + "\""));
  EXPECT_THAT(refused, testing::AnyOf(HasSubstr(std::strerror(EROFS)), HasSubstr(std::strerror(EACCES))));
}

// ramfs can neither reserve space nor do direct I/O.
TEST(SpillFile, WritesZerosIfTheFileSystemCannotReserveSpace) {
  Directory directory;
  const std::string why_not = directory.mount("", 0, "ramfs");
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  World world({}, directory.path().c_str());
  ASSERT_NE(fallocate(world.file.descriptor(), 0, 0, 4096), 0) << "this file system reserves space";
  world.file.reserve(3 * MiB + 1);
  Buffer memory(3 * MiB + 4096);
  memory.fill(1);
  ASSERT_EQ(world.run(world.read(0, memory.data(), 3 * MiB + 4096)).error_number, 0);
  EXPECT_EQ(std::count(memory.data(), memory.data() + 3 * MiB + 4096, std::byte{0}),
            static_cast<std::ptrdiff_t>(3 * MiB + 4096));
}

TEST(SpillFile, APartialReservationIsFreed) {
  Directory directory;
  const std::string why_not = directory.mount("", 0, "ramfs");
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  SpillFile file(directory.path());
  file.reserve(2 * MiB);
  std::string refused;
  {
    const tests::FilesMayNotGrow limit(5 * MiB);  // stops the writing of zeros half way
    refused = refusal([&] { file.reserve(8 * MiB); });
  }
  EXPECT_THAT(refused, HasSubstr(std::strerror(EFBIG)));
  struct stat status {};
  ASSERT_EQ(fstat(file.descriptor(), &status), 0);
  EXPECT_EQ(static_cast<Bytes>(status.st_size), 2 * MiB);
  EXPECT_EQ(file.size(), 2 * MiB);
}

// The first attempt to write zeros fails, the second succeeds.
TEST(SpillFile, ZerosDoNotOverwriteData) {
  Directory directory;
  const std::string why_not = directory.mount("", 0, "ramfs");
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  World world({}, directory.path().c_str(), 64 * MiB);
  {
    const tests::FilesMayNotGrow limit(MiB);
    world.file.reserve(4 * MiB);
  }
  Buffer memory(2 * MiB), again(2 * MiB);
  memory.fill(1);
  ASSERT_EQ(world.run(world.write(MiB, memory.data(), 2 * MiB)).error_number, 0);
  world.file.reserve(MiB);
  ASSERT_EQ(world.run(world.read(MiB, again.data(), 2 * MiB)).error_number, 0);
  EXPECT_EQ(std::memcmp(memory.data(), again.data(), 2 * MiB), 0);
}

// A memory file system before Linux 6.6 has no direct I/O: the file must work without it.
TEST(SpillFile, WorksOnAMemoryFileSystemWithOrWithoutDirectIo) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "/dev/shm is not writable";
  World world({}, "/dev/shm");
  std::printf("direct I/O on /dev/shm: %s\n", world.file.direct() ? "yes" : "no");
  const auto slot = world.file.allocate(MiB);
  Buffer written(MiB), read(MiB);
  written.fill(4);
  ASSERT_EQ(world.run(world.write(slot.offset, written.data(), MiB)).error_number, 0);
  ASSERT_EQ(world.run(world.read(slot.offset, read.data(), MiB)).error_number, 0);
  EXPECT_EQ(std::memcmp(written.data(), read.data(), MiB), 0);
}

}  // namespace fairlead::backend
