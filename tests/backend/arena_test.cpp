// The mapped region: aligned, zero, warmed by several threads.
#include "backend/arena.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::backend {
namespace {

constexpr Bytes MiB = Bytes{1} << 20;

// Number of resident pages of [from, to), as reported by the kernel.
std::size_t resident_pages(const Arena& arena, Bytes from, Bytes to) {
  const auto page = static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> map((to - from + page - 1) / page);
  EXPECT_EQ(mincore(arena.at(from), to - from, map.data()), 0);
  return static_cast<std::size_t>(std::ranges::count_if(map, [](unsigned char flags) { return flags & 1; }));
}

// Bytes of the mapping at `address` that lie in huge pages, from /proc/self/smaps.
Bytes huge_bytes(const std::byte* address) {
  std::ifstream smaps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long first = 0, last = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &first, &last) == 2) {
      const auto wanted = reinterpret_cast<unsigned long>(address);
      inside = first <= wanted && wanted < last;
    } else if (inside && line.starts_with("AnonHugePages:")) {
      return std::stoull(line.substr(14)) * 1024;
    }
  }
  return 0;
}

}  // namespace

TEST(Arena, PagesBecomeResidentWhenWarmedAndNotBefore) {
  Arena arena(8 * MiB, HugePages::no);
  EXPECT_EQ(resident_pages(arena, 0, 8 * MiB), 0u);
  arena.warm(2 * MiB, 4 * MiB);
  EXPECT_EQ(resident_pages(arena, 2 * MiB, 4 * MiB), 2 * MiB / static_cast<Bytes>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(resident_pages(arena, 4 * MiB, 8 * MiB), 0u);
  arena.touch(4 * MiB + 5, 6 * MiB - 5);
  EXPECT_EQ(resident_pages(arena, 4 * MiB, 6 * MiB), 2 * MiB / static_cast<Bytes>(sysconf(_SC_PAGESIZE)));
}

TEST(Arena, SeveralThreadsWarmPartsWhileAnotherWrites) {
  constexpr Bytes part = 4 * MiB + 4096;  // so that the parts share a huge page
  Arena arena(4 * part);
  std::vector<std::jthread> threads;
  for (Bytes i = 0; i < 4; ++i)
    threads.emplace_back(
        [&, i] { i % 2 == 0 ? arena.warm(i * part, (i + 1) * part) : arena.warm(0, 4 * part); });
  std::memset(arena.at(1), 7, 4096);
  std::memset(arena.at(4 * part - 4096), 7, 4096);
  threads.clear();
  EXPECT_EQ(std::count(arena.at(1), arena.at(4097), std::byte{7}), 4096);
  EXPECT_EQ(std::count(arena.at(4 * part - 4096), arena.at(4 * part - 1) + 1, std::byte{7}), 4096);
  EXPECT_EQ(std::count(arena.at(4097), arena.at(4 * part - 4096), std::byte{0}),
            static_cast<std::ptrdiff_t>(4 * part - 4096 - 4097));
}

TEST(Arena, ItsPagesAreHugeIfTheSystemAllowsIt) {
  std::string allowed;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), allowed);
  if (allowed.empty() || allowed.find("[never]") != std::string::npos)
    GTEST_SKIP() << "no transparent huge pages here: '" << allowed << "'";
  Arena arena(16 * MiB);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.at(0)) % (2 * MiB), 0u);
  arena.warm(0, 16 * MiB);
  EXPECT_GE(huge_bytes(arena.at(0)), 8 * MiB);  // memory may be fragmented: not all of them need be huge
}

TEST(Arena, ATooLargeMappingIsAnErrorWithTheSizeAndARemedy) {
  try {
    Arena arena(Bytes{1} << 60);
    FAIL() << "2^60 bytes were mapped";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("1152921504606846976 bytes"));
    EXPECT_THAT(error.what(), testing::HasSubstr("--memory"));
  }
  EXPECT_THROW(Arena{~Bytes{0}}, SystemError);
}

TEST(Arena, WarmingOutsideIsRejected) {
  Arena arena(MiB);
  EXPECT_THROW(arena.warm(0, MiB + 1), UsageError);
  EXPECT_THROW(arena.warm(5, 4), UsageError);
  EXPECT_NO_THROW(arena.warm(MiB, MiB));
  Arena empty(0);
  EXPECT_NO_THROW(empty.warm(0, 0));
}

}  // namespace fairlead::backend
