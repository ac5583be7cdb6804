// Matrices in files, in memory and from functions, by the public interface; and how a source of the user is read.
#include <fairlead/error.hpp>
#include <fairlead/matrix_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/source_kinds.hpp"
#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/world.hpp"
#include "data/matrix/kinds.hpp"

namespace fairlead::linalg::testing {
namespace {

using data::test::element;
using data::test::elements;
using ::testing::HasSubstr;

void expect_elements(const MatrixSource<double>& source, std::int64_t rows, std::int64_t columns) {
  ASSERT_EQ(source.rows(), rows);
  ASSERT_EQ(source.columns(), columns);
  const Dense<double> all = dense<double>(source);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      ASSERT_EQ(all(i, j), element(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)));
}

TEST(MatrixFile, AFileIsReadInItsOwnTypeAndOrder) {
  const data::test::Directory directory;
  const auto path = directory.file("A.npy", data::test::matrix("<f4", true, 30, 40));
  const auto source = open_matrix(path.string());
  expect_elements(*source, 30, 40);
  EXPECT_EQ(source->name(), path.string());
  EXPECT_EQ(source->element_bytes(), 4u);
  const auto stored = stored_matrix_of(source);
  EXPECT_EQ(stored->element(), data::ElementType::float32);
  EXPECT_EQ(stored->order(), StorageOrder::fortran);
  EXPECT_GT(stored->bytes_read(), 0u);
}

TEST(MatrixFile, ARawFileIsReadByItsDescription) {
  const data::test::Directory directory;
  const auto path = directory.file("A.bin", "head" + elements(">f8", false, 30, 40));
  expect_elements(
      *open_raw_matrix(path, {.rows = 30, .columns = 40, .byte_order = std::endian::big, .offset = 4}), 30,
      40);
  EXPECT_THROW(open_raw_matrix(path, {.rows = 30, .columns = 41}), InputError);
  EXPECT_THROW(open_raw_matrix(path, {.rows = -1, .columns = 41}), InputError);
}

TEST(MatrixFile, MemoryIsReadInPlace) {
  std::vector<double> columns(33 * 40), rows(30 * 44);
  std::vector<float> single(30 * 40);
  for (std::uint64_t j = 0; j < 40; ++j)
    for (std::uint64_t i = 0; i < 30; ++i) {
      columns[i + 33 * j] = rows[44 * i + j] = element(i, j);
      single[i + 30 * j] = static_cast<float>(element(i, j));
    }
  const auto by_columns = matrix_in_memory(columns.data(), 30, 40, StorageOrder::fortran, 33);
  expect_elements(*by_columns, 30, 40);
  expect_elements(*matrix_in_memory(rows.data(), 30, 40, StorageOrder::c, 44), 30, 40);
  expect_elements(*matrix_in_memory(single.data(), 30, 40), 30, 40);
  EXPECT_EQ(stored_matrix_of(matrix_in_memory(single.data(), 30, 40))->element(), data::ElementType::float32);
  columns[3 + 33 * 5] = 17;
  EXPECT_EQ(dense<double>(*by_columns)(3, 5), 17);
  EXPECT_THROW(matrix_in_memory(single.data(), 30, 40, StorageOrder::c, 39), UsageError);
  EXPECT_THROW(matrix_in_memory(single.data(), 0, 40), UsageError);
}

TEST(MatrixFile, AFunctionGivesElementsOrBlocks) {
  const auto one = matrix_from(30, 40, [](std::int64_t row, std::int64_t column) {
    return element(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column));
  });
  expect_elements(*one, 30, 40);
  EXPECT_EQ(one->name(), "the matrix");
  const UserSource<double> same(30, 40, element, Preferred::rows);
  const auto block = matrix_from(
      30, 40,
      [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, double* out,
          std::int64_t ld) { same.read(row, rows, column, columns, out, ld); },
      "H");
  expect_elements(*block, 30, 40);
  EXPECT_EQ(block->name(), "H");
}

TEST(MatrixFile, ASourceOfSinglePrecisionStaysInSinglePrecision) {
  const auto source = widened(std::make_shared<const UserSource<float>>(30, 40, element, Preferred::columns));
  expect_elements(*source, 30, 40);
  EXPECT_EQ(source->element_bytes(), 4u);
  EXPECT_EQ(stored_matrix_of(source)->element(), data::ElementType::float32);
  EXPECT_EQ(stored_matrix_of(source)->order(), StorageOrder::fortran);
}

/// The shapes in which a source is read.
class WatchedSource final : public MatrixSource<double> {
 public:
  explicit WatchedSource(Preferred preferred) : preferred_(preferred) {}
  std::int64_t rows() const override { return 1000; }
  std::int64_t columns() const override { return 1000; }
  bool by_columns() const override { return preferred_ == Preferred::columns; }
  bool by_blocks() const override { return preferred_ == Preferred::blocks; }
  void read(std::int64_t, std::int64_t row_count, std::int64_t, std::int64_t column_count, double* out,
            std::int64_t ld) const override {
    for (std::int64_t j = 0; j < column_count; ++j) std::fill_n(out + j * ld, row_count, 1.0);
    shapes.emplace_back(row_count, column_count);
  }
  mutable std::vector<std::pair<std::int64_t, std::int64_t>> shapes;

 private:
  Preferred preferred_;
};

TEST(SourceMatrices, AreReadInTheShapeThatTheyPrefer) {
  std::vector<double> out(800 * 600);
  std::vector<std::byte> staging(10000 * sizeof(double));
  const auto first_shape = [&](Preferred preferred) {
    const auto source = std::make_shared<const WatchedSource>(preferred);
    SourceMatrix<double>(source).read_block<double>(0, 800, 0, 600, out.data(), 800, staging);
    return source->shapes.front();
  };
  EXPECT_EQ(first_shape(Preferred::rows), std::pair(std::int64_t{16}, std::int64_t{600}));
  EXPECT_EQ(first_shape(Preferred::columns), std::pair(std::int64_t{800}, std::int64_t{12}));
  EXPECT_EQ(first_shape(Preferred::blocks), std::pair(std::int64_t{100}, std::int64_t{100}));
}

TEST(SourceMatrices, ThrowTheErrorsOfTheSource) {
  const auto source = matrix_from(30, 40, [](std::int64_t, std::int64_t) -> double {
    throw std::runtime_error("the instrument is off");
  });
  double out = 0;
  try {
    stored_matrix_of(source)->read_block<double>(0, 1, 0, 1, &out, 1);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the instrument is off"));
  }
}

TEST(SourceMatrices, NeedElements) {
  EXPECT_THROW(stored_matrix_of(matrix_from(0, 40, [](std::int64_t, std::int64_t) { return 1.0; })),
               InputError);
}

}  // namespace
}  // namespace fairlead::linalg::testing
