// How much of a memory node the tiles of a plan may take.
#include "schedule/blocks/node_plan.hpp"

#include <gtest/gtest.h>

namespace fairlead::schedule::blocks {
namespace {

Bytes tile_capacity_with_streams(std::size_t streams) {
  constexpr Bytes tile = 10, tiles = 100;
  NodePlan node(NodeId{1}, tiles * tile);
  node.streams = streams;
  return node.tile_capacity(tile);
}

TEST(NodePlan, InputsGetALineOfTilesAndTwoForEachStreamUpToHalf) {
  EXPECT_EQ(tile_capacity_with_streams(1), 880u);
  EXPECT_EQ(tile_capacity_with_streams(4), 820u);
  EXPECT_EQ(tile_capacity_with_streams(64), 500u);
}

TEST(NodePlan, ALineAboveHalfIsKept) {
  NodePlan node(NodeId{1}, 60);
  node.streams = 4;
  EXPECT_EQ(node.tile_capacity(10), 20u);  // two of six tiles
}

}  // namespace
}  // namespace fairlead::schedule::blocks
