// The range allocator compared with a map of pages.
#include "memory/range_allocator.hpp"

#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"

namespace fairlead::memory {
namespace {

constexpr Bytes page = 4096;

// A simple reference implementation of the allocator: one flag per page.
class PageMap {
 public:
  explicit PageMap(std::size_t pages) : used_(pages, false) {}

  void take(ByteRange range) {
    for (Bytes p = range.offset / page; p < (range.offset + range.bytes) / page; ++p) {
      ASSERT_FALSE(used_[p]) << "page " << p << " was allocated twice";
      used_[p] = true;
    }
  }
  void give_back(ByteRange range) {
    std::fill_n(used_.begin() + static_cast<long>(range.offset / page), range.bytes / page, false);
  }
  Bytes free_bytes() const { return static_cast<Bytes>(std::ranges::count(used_, false)) * page; }
  /// The hole that best fit selects: the shortest one that is long enough, and the lowest of these. Nothing without one.
  std::optional<Bytes> best_fit(Bytes bytes) const {
    std::optional<Bytes> best;
    Bytes best_length = ~Bytes{0};
    for (std::size_t p = 0; p < used_.size();) {
      if (used_[p]) {
        ++p;
        continue;
      }
      const std::size_t first = p;
      while (p < used_.size() && !used_[p]) ++p;
      const Bytes length = (p - first) * page;
      if (length >= bytes && length < best_length) best = first * page, best_length = length;
    }
    return best;
  }
  Bytes largest_free() const {
    Bytes largest = 0, run = 0;
    for (const bool used : used_) largest = std::max(largest, run = used ? 0 : run + page);
    return largest;
  }

 private:
  std::vector<bool> used_;
};

}  // namespace

TEST(RangeAllocator, EveryResultEqualsThatOfAMapOfPages) {
  for (std::uint64_t seed = 0; seed < (tests::many_cases() ? 20 : 6); ++seed) {
    Random random(seed);
    const std::size_t pages = 1 + random.below(3000);
    RangeAllocator ranges(pages * page + random.below(page), page);
    PageMap map(pages);
    std::vector<ByteRange> live;
    const Bytes largest = 1 + random.below(40);
    for (int step = 0; step < 1500; ++step) {
      if (live.empty() || random.once_in(2) || (step / 300 % 2 == 0 && random.once_in(2))) {
        const Bytes bytes = 1 + random.below(largest * page);
        const auto expected = map.best_fit(ranges.rounded(bytes));
        const Bytes sizes[] = {bytes};
        ASSERT_EQ(ranges.can_allocate(sizes), expected.has_value());
        const auto range = ranges.allocate(bytes);
        ASSERT_EQ(range.has_value(), expected.has_value()) << "seed " << seed << " step " << step;
        if (!range) continue;
        ASSERT_EQ(range->offset, *expected) << "seed " << seed << " step " << step;
        ASSERT_EQ(range->bytes, ranges.rounded(bytes));
        map.take(*range);
        if (HasFatalFailure()) return;
        live.push_back(*range);
      } else {
        const auto chosen = random.below(live.size());
        ranges.release(live[chosen]);
        map.give_back(live[chosen]);
        live[chosen] = live.back();
        live.pop_back();
      }
      ASSERT_EQ(ranges.free_bytes(), map.free_bytes());
      ASSERT_EQ(ranges.largest_free(), map.largest_free());
    }
    for (const ByteRange range : live) ranges.release(range);
    EXPECT_EQ(ranges.free_bytes(), pages * page);
    EXPECT_EQ(ranges.largest_free(), pages * page);  // all holes have joined
  }
}

TEST(RangeAllocator, EqualSizesNeverFragment) {
  constexpr Bytes tile = 2 << 20;
  constexpr std::size_t tiles = 500;
  RangeAllocator ranges(tiles * tile + tile / 2);
  std::vector<ByteRange> live;
  Random random(3);
  for (int step = 0; step < 20'000; ++step) {
    if (live.size() < tiles && (live.empty() || random.below(100) < 55)) {
      const auto range = ranges.allocate(tile);
      ASSERT_TRUE(range.has_value()) << "only " << live.size() << " of " << tiles << " tiles are held";
      live.push_back(*range);
    } else {
      std::swap(live[random.below(live.size())], live.back());
      ranges.release(live.back());
      live.pop_back();
    }
  }
}

// Inner tiles, tiles of the last row, and small vectors, nine tenths full for a long time: the free memory must stay
// usable for the largest of them most of the time.
TEST(RangeAllocator, MixedSizesLeaveSpaceForALargeRangeWhenATwelfthIsFree) {
  constexpr Bytes sizes[] = {2 << 20, 2 << 20, 2 << 20, 1300 << 10, 1300 << 10, 64 << 10, 12 << 10, 4 << 10};
  constexpr Bytes capacity = Bytes{512} << 20;
  RangeAllocator ranges(capacity);
  std::vector<ByteRange> live;
  Random random(11);
  int refused = 0, asked = 0;
  for (int step = 0; step < 50'000; ++step) {
    while (ranges.used_bytes() > capacity / 12 * 11) {
      std::swap(live[random.below(live.size())], live.back());
      ranges.release(live.back());
      live.pop_back();
    }
    ++asked;
    if (const auto range = ranges.allocate(sizes[random.below(std::size(sizes))])) {
      live.push_back(*range);
    } else {
      ++refused;
      std::swap(live[random.below(live.size())], live.back());
      ranges.release(live.back());
      live.pop_back();
    }
  }
  RecordProperty("refused_per_thousand", refused * 1000 / asked);
  EXPECT_LT(refused * 100, asked)
      << "more than one request in a hundred found only holes that were too small";
}

TEST(RangeAllocator, ASetOfSizesFitsExactlyIfAllocatingThemOneByOneWould) {
  Random random(5);
  int fits = 0, fits_not = 0;
  for (int round = 0; round < 2000; ++round) {
    RangeAllocator ranges(60 * page);
    std::vector<ByteRange> live;
    for (int i = 0; i < 20; ++i)
      if (const auto range = ranges.allocate(1 + random.below(6 * page))) live.push_back(*range);
    for (const ByteRange range : live)
      if (random.once_in(2)) ranges.release(range);
    std::vector<Bytes> wanted(1 + random.below(5));
    for (Bytes& bytes : wanted) bytes = random.below(9 * page);
    const Bytes free_before = ranges.free_bytes();
    const bool said = ranges.can_allocate(wanted);
    EXPECT_EQ(ranges.free_bytes(), free_before);
    const bool is =
        std::ranges::all_of(wanted, [&](Bytes bytes) { return ranges.allocate(bytes).has_value(); });
    ASSERT_EQ(said, is) << "round " << round;
    (is ? fits : fits_not) += 1;
  }
  EXPECT_GT(fits, 100);  // both outcomes occurred
  EXPECT_GT(fits_not, 100);
}

TEST(RangeAllocator, FootprintsAreComparedWithTheEmptyCapacityAfterRounding) {
  RangeAllocator ranges(10 * page);
  ASSERT_TRUE(ranges.allocate(9 * page));  // allocated ranges do not matter
  EXPECT_TRUE(ranges.would_fit_in_empty(std::vector<Bytes>{5 * page, 5 * page}));
  EXPECT_FALSE(ranges.would_fit_in_empty(std::vector<Bytes>{5 * page, 4 * page + 1, 1}));
  EXPECT_FALSE(ranges.would_fit_in_empty(std::vector<Bytes>{page, ~Bytes{0}, ~Bytes{0}}));
  EXPECT_FALSE(ranges.can_allocate(std::vector<Bytes>{page, 1}));
}

TEST(RangeAllocator, AbsurdSizesAreRefusedAndNotWrappedAround) {
  RangeAllocator ranges(10 * page);
  EXPECT_EQ(ranges.allocate(~Bytes{0}), std::nullopt);
  EXPECT_EQ(ranges.allocate((Bytes{1} << 44) + page), std::nullopt);  // 2^32 units and one
  EXPECT_EQ(ranges.allocate(0), ByteRange{});
  EXPECT_THROW(RangeAllocator(Bytes{1} << 45), UsageError);
  EXPECT_THROW(RangeAllocator(page, 0), UsageError);
}

TEST(RangeAllocator, AReleaseOfAFreeOrUnallocatedRangeIsRefused) {
  RangeAllocator ranges(10 * page);
  const ByteRange a = *ranges.allocate(2 * page), b = *ranges.allocate(2 * page);
  ranges.release(a);
  EXPECT_THROW(ranges.release(a), UsageError);
  EXPECT_THROW(ranges.release({page, 2 * page}), UsageError);      // its first half is free
  EXPECT_THROW(ranges.release({3 * page, 2 * page}), UsageError);  // its second half is free
  EXPECT_THROW(ranges.release({9 * page, 2 * page}), UsageError);  // past the end
  EXPECT_THROW(ranges.release({b.offset + 1, page}), UsageError);
  ranges.release(b);
  EXPECT_EQ(ranges.largest_free(), 10 * page);
}

TEST(RangeAllocator, GrowthJoinsTheHoleAtTheEnd) {
  RangeAllocator ranges(0);
  EXPECT_EQ(ranges.allocate(1), std::nullopt);
  ranges.grow(4 * page);
  const ByteRange first = *ranges.allocate(page);
  ranges.grow(4 * page);
  EXPECT_EQ(ranges.largest_free(), 7 * page);
  ranges.release(first);
  EXPECT_EQ(ranges.largest_free(), 8 * page);
}

}  // namespace fairlead::memory
