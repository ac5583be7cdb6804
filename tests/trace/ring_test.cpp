// A ring buffer of fixed size: the newest records stay, and dropped records are counted.
#include "trace/ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace fairlead::trace {

namespace {

std::vector<int> content(const Ring<int>& ring) {
  std::vector<int> all;
  ring.for_each([&all](int value) { all.push_back(value); });
  return all;
}

}  // namespace

TEST(Ring, KeepsRecordsUpToItsCapacity) {
  Ring<int> ring(4 * sizeof(int));
  for (const int value : {1, 2, 3}) ring.push(value);
  EXPECT_EQ(content(ring), (std::vector{1, 2, 3}));
  EXPECT_EQ(ring.dropped(), 0u);
}

TEST(Ring, DropsTheOldestRecordsAndCountsThem) {
  Ring<int> ring(4 * sizeof(int));
  for (int value = 1; value <= 11; ++value) ring.push(value);
  EXPECT_EQ(content(ring), (std::vector{8, 9, 10, 11}));
  EXPECT_EQ(ring.dropped(), 7u);
}

TEST(Ring, HoldsOneRecordEvenWithoutMemory) {
  Ring<int> ring(0);
  ring.push(1);
  ring.push(2);
  EXPECT_EQ(content(ring), std::vector{2});
  EXPECT_EQ(ring.dropped(), 1u);
}

TEST(Ring, OfHugePagesBehavesLikeOneOfSmallPages) {
  Ring<int> ring(std::size_t{3} << 20);
  const int all = static_cast<int>(ring.capacity()) + 5;
  for (int value = 0; value < all; ++value) ring.push(value);
  EXPECT_EQ(content(ring).front(), 5);
  EXPECT_EQ(content(ring).back(), all - 1);
  EXPECT_EQ(ring.dropped(), 5u);
}

}  // namespace fairlead::trace
