// Copies that share links in virtual time: computed by hand, and the defining property of max-min fairness on random sets.
#include "backend/sim/shared_links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace fairlead::backend {
namespace {

using namespace std::chrono_literals;
using Wires = std::vector<SharedLinks::Crossing>;
constexpr Bytes megabyte = 1'000'000;  // a millisecond at 1e9 bytes per second

/// Runs all copies to completion; returns the completion times by number.
std::vector<Time> ends_of(SharedLinks& shared, std::size_t copies) {
  std::vector<Time> ends(copies);
  while (!shared.idle()) {
    const SharedLinks::End first = shared.next();
    ends[first.copy] = first.at;
    shared.end(first.copy, first.at);
  }
  return ends;
}

}  // namespace

TEST(SharedLinks, GiveOneCopyAllOfItsSlowestLink) {
  SharedLinks shared({1e9, 2e9});
  shared.begin(megabyte, Wires{0, 1}, 0ms);
  EXPECT_EQ(ends_of(shared, 1)[0], 1ms);
}

TEST(SharedLinks, ShareALinkEvenlyFromTheStartOfTheSecondCopy) {
  SharedLinks shared({1e9});
  shared.begin(megabyte, Wires{0}, 0us);
  shared.begin(megabyte, Wires{0}, 500us);
  // The first has half a megabyte left, which now takes 1 ms; then the second has as much left, and the wire
  // alone.
  EXPECT_THAT(ends_of(shared, 2), testing::ElementsAre(1500us, 2ms));
}

// Wire 0 leaves its two copies 0.5 each. The one that also crosses wire 1 cannot use more there, so that the
// third gets 1.5 of its 2.
TEST(SharedLinks, GiveUnusableBandwidthToOthers) {
  SharedLinks shared({1e9, 2e9});
  const auto x = shared.begin(megabyte, Wires{0}, 0ms);
  const auto y = shared.begin(megabyte, Wires{0, 1}, 0ms);
  const auto z = shared.begin(megabyte, Wires{1}, 0ms);
  EXPECT_DOUBLE_EQ(shared.bytes_per_second(x), 0.5e9);
  EXPECT_DOUBLE_EQ(shared.bytes_per_second(y), 0.5e9);
  EXPECT_DOUBLE_EQ(shared.bytes_per_second(z), 1.5e9);
  // z ends first, after 2/3 ms; nothing changes for the others, which wire 0 holds back.
  EXPECT_THAT(ends_of(shared, 3), testing::ElementsAre(2ms, 2ms, 666'667ns));
}

// Four devices behind one bus, each with a wire of its own: three that copy are held back by the bus, one
// alone by its wire.
TEST(SharedLinks, ABusLimitsManyDevicesAndALinkOne) {
  SharedLinks shared({12e9, 8e9, 8e9, 8e9, 8e9});
  const auto alone = shared.begin(12 * megabyte, Wires{0, 1}, 0ms);
  EXPECT_DOUBLE_EQ(shared.bytes_per_second(alone), 8e9);
  const auto second = shared.begin(12 * megabyte, Wires{0, 2}, 0ms);
  const auto third = shared.begin(12 * megabyte, Wires{0, 3}, 0ms);
  for (const auto copy : {alone, second, third}) EXPECT_DOUBLE_EQ(shared.bytes_per_second(copy), 4e9);
  EXPECT_THAT(ends_of(shared, 3), testing::Each(3ms));
}

// The disk reads 3 MB in a millisecond and writes 1: reading and writing at the same time, a byte of each
// takes a third and a whole of it.
TEST(SharedLinks, GiveLessInASlowerDirection) {
  SharedLinks shared({3e9});
  const auto written = shared.begin(megabyte, Wires{{0, 3.0}}, 0ms);
  EXPECT_DOUBLE_EQ(shared.bytes_per_second(written), 1e9);
  const auto read = shared.begin(megabyte, Wires{0}, 0ms);
  EXPECT_DOUBLE_EQ(shared.bytes_per_second(written), 0.75e9);
  EXPECT_DOUBLE_EQ(shared.bytes_per_second(read), 0.75e9);
  EXPECT_THAT(ends_of(shared, 2), testing::Each(1'333'334ns));
}

TEST(SharedLinks, DoNotAffectIndependentCopies) {
  SharedLinks shared({1e9, 1e9});
  shared.begin(megabyte, Wires{0}, 0ms);
  shared.begin(megabyte, Wires{1}, 0ms);
  EXPECT_THAT(ends_of(shared, 2), testing::Each(1ms));
}

TEST(SharedLinks, CompleteCopiesWithoutBytesOrLinksAtOnce) {
  SharedLinks shared({1e9});
  shared.begin(0, Wires{0}, 3ms);
  shared.begin(megabyte, Wires{}, 3ms);
  EXPECT_THAT(ends_of(shared, 2), testing::Each(3ms));
}

TEST(SharedLinks, GiveTheBandwidthOfACancelledCopyToOthers) {
  SharedLinks shared({1e9});
  const auto first = shared.begin(megabyte, Wires{0}, 0us);
  shared.begin(megabyte, Wires{0}, 0us);
  shared.end(first, 1ms);  // half of both is finished
  EXPECT_EQ(shared.next().at, 1500us);
}

// Max-min fairness: no link exceeds its bandwidth, and each copy crosses a saturated link on which no other copy is faster.
TEST(SharedLinks, AreMaxMinFairInRandomSets) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<double> capacity(random.between(2, 8));
    for (double& one : capacity) one = static_cast<double>(random.between(1, 20)) * 1e8;
    SharedLinks shared(capacity);
    std::vector<std::pair<SharedLinks::CopyNumber, Wires>> under_way;
    Time now{};
    for (int step = 0; step < 60; ++step) {
      const bool ends = !under_way.empty() && random.once_in(3);
      if (ends) {
        const SharedLinks::End first = shared.next();
        ASSERT_GE(first.at, now);
        now = first.at;
        shared.end(first.copy, now);
        std::erase_if(under_way, [&](const auto& it) { return it.first == first.copy; });
      } else {
        Wires wires;
        for (SharedLinks::LinkIndex wire = 0; wire < capacity.size(); ++wire)
          if (random.once_in(2)) wires.emplace_back(wire, random.once_in(3) ? 2.5 : 1.0);
        if (wires.empty()) continue;
        if (!under_way.empty()) now = std::min(now + Duration(random.between(0, 300'000)), shared.next().at);
        under_way.emplace_back(shared.begin(static_cast<Bytes>(random.between(1, 2'000'000)), wires, now),
                               wires);
      }
      std::vector<double> load(capacity.size()), fastest(capacity.size());
      for (const auto& [copy, wires] : under_way)
        for (const auto& [wire, cost] : wires) {
          load[wire] += cost * shared.bytes_per_second(copy);
          fastest[wire] = std::max(fastest[wire], shared.bytes_per_second(copy));
        }
      for (std::size_t wire = 0; wire < capacity.size(); ++wire)
        ASSERT_LE(load[wire], capacity[wire] * (1 + 1e-12));
      for (const auto& [copy, wires] : under_way)
        ASSERT_TRUE(std::ranges::any_of(wires, [&, number = copy](const auto& crossing) {
          const auto wire = crossing.wire;
          return load[wire] >= capacity[wire] * (1 - 1e-12) &&
                 shared.bytes_per_second(number) >= fastest[wire] * (1 - 1e-12);
        }));
    }
  }
}

}  // namespace fairlead::backend
