// How much of a memory node the tiles of a plan may take.
#include "schedule/blocks/node_plan.hpp"

#include <gtest/gtest.h>

namespace fairlead::schedule::blocks {
namespace {

Bytes room_beside(std::size_t streams) {
  constexpr Bytes tile = 10, tiles = 100;
  NodePlan node(NodeId{1}, tiles * tile);
  node.streams = streams;
  return node.tile_capacity(tile);
}

TEST(NodePlan, InputsHaveALineOfTilesAndTwoForEachStreamButNeverMoreThanHalf) {
  EXPECT_EQ(room_beside(1), 880u);
  EXPECT_EQ(room_beside(4), 820u);
  EXPECT_EQ(room_beside(64), 500u);
}

TEST(NodePlan, WhereALineIsMoreThanHalfItHasThat) {
  NodePlan node(NodeId{1}, 60);
  node.streams = 4;
  EXPECT_EQ(node.tile_capacity(10), 20u);  // two of six tiles
}

}  // namespace
}  // namespace fairlead::schedule::blocks
