// A container's memory limit includes the page cache: reading a source must not fill it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <vector>

#include "data/npy/files.hpp"
#include "data/npy/npy_file.hpp"

namespace fairlead::data {
namespace {

using namespace test;

std::size_t cached_bytes(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto bytes = std::filesystem::file_size(path);
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  EXPECT_NE(memory, MAP_FAILED);
  std::vector<unsigned char> pages((bytes + 4095) / 4096);
  EXPECT_EQ(::mincore(memory, bytes, pages.data()), 0);
  ::munmap(memory, bytes);
  return 4096 * static_cast<std::size_t>(
                    std::count_if(pages.begin(), pages.end(), [](auto page) { return page & 1; }));
}

TEST(PageCache, ReadingAFileInBandsLeavesLittleInTheCache) {
  for (const bool fortran : {false, true}) {
    const Directory directory;
    const std::uint64_t n = 2500, band = 125;
    const auto path = directory.file("A.npy", matrix("<f8", fortran, n, n));
    struct statfs system {};
    ASSERT_EQ(::statfs(path.c_str(), &system), 0);
    if (system.f_type == TMPFS_MAGIC) GTEST_SKIP() << "the temporary directory is in memory: nothing to drop";
    const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::fsync(file.get()), 0);  // dirty pages cannot be dropped
    ASSERT_GT(cached_bytes(path), std::size_t{30} << 20);

    const NpyFile source(path);
    std::vector<double> out(n * band);
    for (int round = 0; round < 2; ++round)  // the second time from the disk, with the kernel reading ahead
      for (std::uint64_t at = 0; at < n; at += band)
        if (fortran)
          source.read_block<double>(0, n, at, band, out.data(), n);
        else
          source.read_block<double>(at, band, 0, n, out.data(), band);
    EXPECT_LT(cached_bytes(path), std::size_t{5} << 20) << (fortran ? "Fortran order" : "C order");
  }
}

}  // namespace
}  // namespace fairlead::data
