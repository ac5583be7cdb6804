// Tiles that are not square: where they lie, and who refuses them.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>

#include <string>
#include <vector>

namespace fairlead {
namespace {

constexpr std::int32_t rows = 10, columns = 11, distance = 12;

Config small_config() {
  Config config;
  config.set("workers", 2);
  config.set("memory", "64KiB");
  config.set("bind-threads", false);
  return config;
}

/// Writes into each tile which one it is.
void number_tiles(Runtime& runtime, const TiledMatrix<double>& a) {
  const auto set = codelet("set").cpu([](Out<Tile<double>> tile, double value) {
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      for (std::int32_t i = 0; i < tile.rows(); ++i) tile(i, j) = value;
  });
  Flow flow(runtime);
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j) flow.submit(set(a(i, j), 100.0 * i + j));
  flow.wait();
}

}  // namespace

TEST(TileSize, InTheProgramsMemoryTheyLieWhereTheirElementsAre) {
  std::vector<double> data(static_cast<std::size_t>(distance) * columns, -1.0);
  {
    Runtime runtime(small_config());
    const auto a = runtime.tiled_in_place<double>("A", data.data(), rows, columns, distance, {4, 3});
    EXPECT_EQ(a.tile_rows(), 3);
    EXPECT_EQ(a.tile_columns(), 4);
    number_tiles(runtime, a);
  }
  for (std::int32_t j = 0; j < columns; ++j)
    for (std::int32_t i = 0; i < distance; ++i)
      EXPECT_EQ(data[static_cast<std::size_t>(i + j * distance)], i < rows ? 100 * (i / 4) + j / 3 : -1);
}

TEST(TileSize, InTheRuntimesMemoryTheLastOnesMayBeSmaller) {
  Runtime runtime(small_config());
  const auto a = runtime.tiled<double>("A", rows, columns, {4, 3});
  EXPECT_EQ(a.tile_size(), TileSize(4, 3));
  number_tiles(runtime, a);
  Flow flow(runtime);
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j) {
      const auto hold = flow.acquire(read(a(i, j)));
      const auto& tile = hold.get<0>();
      EXPECT_EQ(tile.rows(), i == 2 ? 2 : 4);
      EXPECT_EQ(tile.columns(), j == 3 ? 2 : 3);
      EXPECT_EQ(tile(tile.rows() - 1, tile.columns() - 1), 100 * i + j);
    }
}

TEST(TileSize, ThoseOfNothingAreRefusedAndSquareOnesAskedFor) {
  Runtime runtime(small_config());
  EXPECT_THROW(runtime.tiled<double>("A", rows, columns, {0, 3}), UsageError);
  EXPECT_THROW(runtime.tiled<double>("A", rows, columns, {3, -1}), UsageError);
  const auto a = runtime.tiled<double>("A", rows, rows, {4, 3});
  Flow flow(runtime);
  try {
    linalg::cholesky(flow, linalg::Kernels::load(), a);
    ADD_FAILURE() << "it took them";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("A has tiles of 4 x 3"), std::string::npos) << error.what();
  }
}

}  // namespace fairlead
