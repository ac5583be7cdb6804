// Views in code compiled with FAIRLEAD_CHECK_INDICES, as this file: an invalid index is an error that names index
// and extents, and reaches the program like any failure of a task.
#undef FAIRLEAD_CHECK_INDICES  // if all code is compiled with it
#define FAIRLEAD_CHECK_INDICES
#include <fairlead/fairlead.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead {
namespace {

using testing::HasSubstr;

template <class F>
std::string mistake(F&& f) {
  try {
    f();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(CheckedIndices, AreNamedWithTheExtentsOfTile_VectorAndBlock) {
  std::vector<double> space(60);
  const TileView<double> tile(space.data(), 3, 4, 5);
  const VectorView<double> vector(space.data(), 10, 2);
  const BlockView<double> block(space.data(), {2, 3, 4}, {2, 6});
  EXPECT_EQ(mistake([&] { tile(2, 3) = vector(9) = block(1, 2, 3) = 1; }), "none");
  EXPECT_EQ(mistake([&] { tile(3, 0) = 1; }), "there is no element (3, 0) in a tile of 3 x 4");
  EXPECT_EQ(mistake([&] { tile(0, 4) = 1; }), "there is no element (0, 4) in a tile of 3 x 4");
  EXPECT_EQ(mistake([&] { tile(-1, 0) = 1; }), "there is no element (-1, 0) in a tile of 3 x 4");
  EXPECT_EQ(mistake([&] { vector(10) = 1; }), "there is no element (10) in a vector of 10");
  EXPECT_EQ(mistake([&] { vector(-1) = 1; }), "there is no element (-1) in a vector of 10");
  EXPECT_EQ(mistake([&] { block(0, 3, 0) = 1; }), "there is no element (0, 3, 0) in a block of 2 x 3 x 4");
  EXPECT_EQ(mistake([&] { block(0, 0, -2) = 1; }), "there is no element (0, 0, -2) in a block of 2 x 3 x 4");
}

// Tiles of the last row and column are smaller: a body that counts to the size of others exceeds them.
TEST(CheckedIndices, OfABodyFailItsTask) {
  Config config;
  config.set("memory", "4MiB");
  config.set("workers", 2);
  Runtime runtime(config);
  const auto a = runtime.tiled<double>("A", 100, 100, 64);
  const auto fill = codelet("fill").cpu([](Out<Tile<double>> t) {
    for (int j = 0; j < 64; ++j)
      for (int i = 0; i < 64; ++i) t(i, j) = 1;
  });
  Flow flow(runtime);
  flow.submit(fill(a(0, 0)));
  flow.wait();
  flow.submit(fill(a(1, 0)));
  std::string said;
  try {
    flow.wait();
  } catch (const TaskError& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr("there is no element (36, 0) in a tile of 36 x 64"));
  EXPECT_THAT(said, HasSubstr("fill(A[1,0])"));
}

TEST(CheckedIndices, InvalidTilesOfAMatrixAreRefusedInEveryBuild) {
  Config config;
  config.set("memory", "4MiB");
  Runtime runtime(config);
  const auto a = runtime.tiled<double>("A", 100, 100, 64);
  EXPECT_THAT(mistake([&] { a(2, 0); }), HasSubstr("A has no tile [2,0]"));
  EXPECT_THAT(mistake([&] { a(0, -1); }), HasSubstr("A has no tile [0,-1]"));
}

}  // namespace
}  // namespace fairlead
