// A matrix of any shape, however it is stored: the tiles get its elements, or the error names the invalid element.
#include <fairlead/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/linalg/general_reader.hpp"
#include "algorithms/linalg/source_kinds.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

using data::test::MatrixKind;

/// Elements that are exact in single precision, of both signs.
double value_of(std::uint64_t row, std::uint64_t column) {
  return (row + column) % 3 == 0 ? -data::test::element(row, column) : data::test::element(row, column);
}

Dense<double> values(std::int64_t rows, std::int64_t columns) {
  Dense<double> a{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      a(i, j) = value_of(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j));
  return a;
}

class GeneralReading : public ::testing::TestWithParam<MatrixKind> {
 protected:
  template <class T>
  void expect_tiles(const Dense<double>& a, int tile, Bytes memory) {
    Runtime runtime(config_of({.memory = memory}));
    GeneralReader<T> reader(store(GetParam(), directory_, a));
    const auto tiles = runtime.tiled<T>("A", a.rows, a.columns, tile);
    Flow flow(runtime);
    reader.submit(flow, tiles, runtime.capacity_bytes());
    EXPECT_EQ(flow.submitted(), reader.tasks(tiles, runtime.capacity_bytes()));
    wait_for_results(flow);
    const Dense<T> read = fetch(flow, tiles);
    double largest = 0;
    std::size_t wrong = 0;
    for (std::int64_t j = 0; j < a.columns; ++j)
      for (std::int64_t i = 0; i < a.rows; ++i) {
        wrong += read(i, j) != static_cast<T>(a(i, j));
        largest = std::max(largest, std::abs(a(i, j)));
      }
    EXPECT_EQ(wrong, 0u) << a.rows << " x " << a.columns << " in tiles of " << tile;
    EXPECT_EQ(reader.largest(), largest);
  }

  std::string refusal(const Dense<double>& a) {
    Runtime runtime(config_of({}));
    GeneralReader<double> reader(store(GetParam(), directory_, a));
    const auto tiles = runtime.tiled<double>("A", a.rows, a.columns, 16);
    Flow flow(runtime);
    reader.submit(flow, tiles, runtime.capacity_bytes());
    try {
      wait_for_results(flow);
    } catch (const NumericalError& error) {
      return error.what();
    }
    return "not refused";
  }

  data::test::Directory directory_;
};

TEST_P(GeneralReading, IsReadIntoTheTiles) {
  for (const auto& [rows, columns, tile] :
       {std::tuple(1, 1, 4), {5, 3, 8}, {32, 48, 8}, {61, 190, 7}, {300, 45, 16}})
    expect_tiles<double>(values(rows, columns), tile, plenty);
  expect_tiles<double>(values(300, 200), 16, 65536);
  expect_tiles<float>(values(61, 190), 16, plenty);
}

TEST_P(GeneralReading, NamesANonFiniteElement) {
  for (const auto& [row, column] : {std::pair(0, 0), {59, 99}, {17, 3}, {3, 17}, {59, 0}, {0, 99}}) {
    Dense<double> a = values(60, 100);
    a(row, column) = std::numeric_limits<double>::quiet_NaN();
    const std::string place = GetParam().file + ": the element in row " + std::to_string(row) + ", column " +
                              std::to_string(column) + " (counted from 0) is ";
    EXPECT_THAT(refusal(a), ::testing::HasSubstr(place + "not a number (NaN)"));
    a(row, column) = -std::numeric_limits<double>::infinity();
    EXPECT_THAT(refusal(a), ::testing::HasSubstr(place + "infinite"));
  }
}

std::vector<MatrixKind> kinds_of_sources() {
  std::vector<MatrixKind> all = data::test::matrix_kinds();
  for (const MatrixKind& kind : data::test::zarr_kinds()) all.push_back(kind);
  for (const Preferred preferred : {Preferred::rows, Preferred::columns, Preferred::blocks}) {
    all.push_back(source_kind<double>(preferred));
    all.push_back(source_kind<float>(preferred));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kinds, GeneralReading, ::testing::ValuesIn(kinds_of_sources()));

}  // namespace
}  // namespace fairlead::linalg::testing
