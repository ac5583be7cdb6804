// Releasing memory does not allocate: otherwise a destructor could fail.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "allocation/failing_new.hpp"
#include "base/random.hpp"
#include "memory/range_allocator.hpp"

namespace fairlead::allocation {

// Ranges of all sizes in any order: thousands of holes appear and vanish, and their lists are split and joined.
TEST(Release, OfRangesDoesNotAllocate) {
  constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();
  Random random(20);
  memory::RangeAllocator space(0);
  std::vector<memory::ByteRange> held;
  for (int round = 0; round < 60; ++round) {
    if (round % 3 == 0) space.grow(Bytes{4096} * 2'000);
    while (const auto range = space.allocate(4096 * (1 + random.below(round % 2 == 0 ? 2 : 9))))
      held.push_back(*range);
    const std::size_t left = round % 5 == 4 ? 0 : random.below(held.size());
    fail(1, for_ever);
    bool failed = false;
    try {
      while (held.size() > left) {
        std::swap(held[random.below(held.size())], held.back());
        space.release(held.back());
        held.pop_back();
      }
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    never_fail();
    ASSERT_FALSE(failed) << "in round " << round << ", with " << held.size() << " ranges held";
  }
  for (const memory::ByteRange& range : held) space.release(range);
  EXPECT_EQ(space.largest_free(), space.capacity());
}

// Without memory no range is allocated, and the state is unchanged.
TEST(Release, ARangeThatCannotBeReleasedWithoutAllocationIsNotAllocated) {
  memory::RangeAllocator space(Bytes{4096} * 100'000);
  std::vector<memory::ByteRange> held;
  held.reserve(100'000);
  int refused = 0;
  for (int i = 0; i < 50'000; ++i) {
    fail(1, 1);
    try {
      held.push_back(*space.allocate(4096));
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    never_fail();
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(space.used_bytes(), held.size() * 4096);
  for (const memory::ByteRange& range : held) space.release(range);
  EXPECT_EQ(space.largest_free(), space.capacity());
}

}  // namespace fairlead::allocation
