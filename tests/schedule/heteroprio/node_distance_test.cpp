// Distances of nodes: Table 2 of Bramas 2019, and links.
#include "schedule/heteroprio/access_order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "schedule/fake_world.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

/// "312": the priority of each bucket.
std::vector<std::int32_t> priorities(std::string_view digits) {
  std::vector<std::int32_t> result;
  for (const char digit : digits) result.push_back(digit - '0');
  return result;
}
double distance(std::string_view i, std::string_view j) {
  return priority_distance(priorities(i), priorities(j));
}

// Printed are 1-0.4, 1-0.2, 1-0, 1-0.26, 1-0.26, 1-0.13: cut, not rounded.
TEST(NodeDistance, ByPriorityIsThatOfTable2) {
  EXPECT_DOUBLE_EQ(distance("12", "210"), 1 - 4. / 10);
  EXPECT_DOUBLE_EQ(distance("12", "01"), 1 - 2. / 10);
  EXPECT_DOUBLE_EQ(distance("12", "012"), 1);
  EXPECT_DOUBLE_EQ(distance("312", "0123"), 1 - 4. / 15);
  EXPECT_DOUBLE_EQ(distance("312", "0132"), 1 - 4. / 15);
  EXPECT_DOUBLE_EQ(distance("312", "0321"), 1 - 2. / 15);
}

TEST(NodeDistance, UnvisitedBucketsCountAsZero) {
  const std::vector<std::int32_t> i{no_priority, 1, 2}, j{2, 1, 0};
  EXPECT_DOUBLE_EQ(priority_distance(i, j), 1 - 4. / 10);
  EXPECT_DOUBLE_EQ(priority_distance(j, i), 1 - 4. / 10);
}

// The CPU and a GPU of Table 3: which is why its distance of 1 cannot come from Eq. 12.
TEST(NodeDistance, OfOppositePrioritiesIsSmall) {
  EXPECT_DOUBLE_EQ(priority_distance(std::vector{0, 1, 2, 3}, std::vector{no_priority, 2, 1, 0}), 2. / 3);
}

TEST(NodeDistance, MixesPrioritiesAndTransfersByAlpha) {
  EXPECT_DOUBLE_EQ(node_distance(1, 0.5, 0.5), 0.75);
  EXPECT_DOUBLE_EQ(node_distance(1, 0.5, 0), 0.5);
  EXPECT_DOUBLE_EQ(node_distance(0.25, 0.5, 1), 0.25);
}

/// From node 2 everything takes four times as long.
class Machine final : public FakeWorld {
 public:
  Machine() : FakeWorld(3) {}
  Duration transfer_time(Bytes bytes, NodeId from, NodeId to) const override {
    EXPECT_EQ(bytes, Bytes{1024} * 1024 * 1024);
    EXPECT_NE(from, to);
    return ms(from == node(2) ? 400 : 100);
  }
  using FakeWorld::transfer_time;
};

TEST(NodeDistance, ByTransferIsTheTimeFromThereByTheLongest) {
  const Machine machine;
  EXPECT_EQ(transfer_distances(machine), (std::vector<double>{0, 0.25, 1, 0.25, 0, 1, 0.25, 0.25,
                                                              0}));  // row by row: to node 0, to node 1, ...
}

TEST(NodeDistance, OfOneNodeAloneIsZero) {
  const FakeWorld alone(1);
  EXPECT_EQ(transfer_distances(alone), std::vector{0.});
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
