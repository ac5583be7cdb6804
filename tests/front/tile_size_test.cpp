// Tiles that are not square: their placement, and the functions that refuse them.
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

/// Writes its number into each tile.
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

TEST(TileSize, TilesInUserMemoryStayInPlace) {
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

TEST(TileSize, TheLastTilesInRuntimeMemoryMayBeSmaller) {
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

/// Memory for two of these tiles: they are written to the disk and loaded again.
TEST(TileSize, PaddedTilesAreComputedAndStored) {
  constexpr std::int32_t n = 250;
  Runtime runtime(small_config());
  const auto number = [](TileView<double> piece, std::int64_t row, std::int64_t column) {
    for (std::int32_t j = 0; j < piece.columns(); ++j)
      for (std::int32_t i = 0; i < piece.rows(); ++i)
        piece(i, j) = static_cast<double>(1000 * (row + i) + column + j);
  };
  const auto a = runtime.tiled<double>("A", n, n, TileSize(60).padded(), generated_by(number)),
             b = runtime.tiled<double>("B", n, n, TileSize(60).padded());
  const auto copy = codelet("copy").cpu([](In<Tile<double>> from, Out<Tile<double>> to) {
    for (std::int32_t j = 0; j < to.columns(); ++j)
      for (std::int32_t i = 0; i < to.rows(); ++i) to(i, j) = from(i, j);
  });
  Flow flow(runtime);
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j) flow.submit(copy(a(i, j), b(i, j)));
  flow.wait();
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j) {
      const auto hold = flow.acquire(read(b(i, j)));
      const auto& tile = hold.get<0>();
      EXPECT_EQ(tile.rows(), i == 4 ? 10 : 60);
      for (std::int32_t l = 0; l < tile.columns(); ++l)
        for (std::int32_t k = 0; k < tile.rows(); ++k)
          ASSERT_EQ(tile(k, l), 1000 * (60 * i + k) + 60 * j + l);
    }
}

TEST(TileSize, InvalidPaddedTilesAreRefused) {
  Runtime runtime(small_config());
  std::vector<double> data(static_cast<std::size_t>(rows * columns));
  EXPECT_THROW(runtime.tiled_in_place<double>("A", data.data(), rows, columns, rows, TileSize(4).padded()),
               UsageError);
  constexpr std::int32_t huge = 1 << 30;
  EXPECT_NO_THROW(runtime.tiled<double>("A", rows, columns, huge));
  EXPECT_THROW(runtime.tiled<double>("A", rows, columns, TileSize(huge).padded()), UsageError);
}

TEST(TileSize, EmptyTilesAreRefusedAndSquareTilesRequired) {
  Runtime runtime(small_config());
  EXPECT_THROW(runtime.tiled<double>("A", rows, columns, {0, 3}), UsageError);
  EXPECT_THROW(runtime.tiled<double>("A", rows, columns, {3, -1}), UsageError);
  const auto a = runtime.tiled<double>("A", rows, rows, {4, 3});
  Flow flow(runtime);
  try {
    linalg::cholesky(flow, linalg::Kernels::load(), a);
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("A has tiles of 4 x 3"), std::string::npos) << error.what();
  }
}

}  // namespace fairlead
