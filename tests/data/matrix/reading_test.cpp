// Blocks of matrices in every format, order, type and byte order, read with staging memory of all relevant sizes.
#include <gtest/gtest.h>

#include <fairlead/error.hpp>
#include <fstream>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "data/matrix/kinds.hpp"
#include "data/matrix/zarr_kinds.hpp"
#include "sanitized.hpp"

namespace fairlead::data {
namespace {

using namespace test;

/// Number of wrong elements in the block, and of changed elements outside of it.
template <class T>
std::size_t wrong_elements(const StoredMatrix& file, std::uint64_t row, std::uint64_t rows,
                           std::uint64_t column, std::uint64_t columns, std::size_t staging_bytes) {
  const auto ld = rows + 2;
  std::vector<T> out(ld * (columns + 1), T(-1));
  std::vector<std::byte> staging(staging_bytes);
  file.read_block<T>(row, rows, column, columns, out.data(), ld, staging);
  std::size_t wrong = 0;
  for (std::uint64_t j = 0; j <= columns; ++j)
    for (std::uint64_t i = 0; i < ld; ++i)
      wrong +=
          out[i + j * ld] != (i < rows && j < columns ? static_cast<T>(element(row + i, column + j)) : T(-1));
  return wrong;
}

class MatrixReading : public testing::TestWithParam<MatrixKind> {
 protected:
  Stored stored(std::uint64_t rows, std::uint64_t columns) const {
    return GetParam().store(directory, rows, columns, element);
  }
  Directory directory;
};

TEST_P(MatrixReading, EveryBlockIsCorrect) {
  const std::uint64_t rows = 70, columns = 90;
  const Stored matrix = stored(rows, columns);
  EXPECT_EQ(matrix->rows(), rows);
  EXPECT_EQ(matrix->columns(), columns);
  EXPECT_EQ(matrix->order(), GetParam().order.value_or(matrix->order()));
  EXPECT_TRUE(matrix->name().ends_with(GetParam().file)) << matrix->name();
  Random random(3);
  for (const std::size_t staging : {0u, 16u, 100u, 700u, 2000u, 100000u})
    for (int piece = 0; piece < 40; ++piece) {
      const auto row = random.below(rows), column = random.below(columns);
      const auto row_count = 1 + random.below(rows - row), column_count = 1 + random.below(columns - column);
      ASSERT_EQ(wrong_elements<double>(*matrix, row, row_count, column, column_count, staging), 0u);
      ASSERT_EQ(wrong_elements<float>(*matrix, row, row_count, column, column_count, staging), 0u);
    }
  EXPECT_EQ(wrong_elements<double>(*matrix, 0, rows, 0, columns, 0), 0u);
  EXPECT_EQ(wrong_elements<double>(*matrix, 5, 0, 5, 0, 0), 0u);
}

TEST_P(MatrixReading, TheTransposedMatrixHasTheOtherOrder) {
  const std::uint64_t rows = 41, columns = 67;
  const Stored matrix = stored(rows, columns), transposed = matrix->transposed();
  EXPECT_EQ(transposed->rows(), columns);
  EXPECT_EQ(transposed->columns(), rows);
  EXPECT_NE(transposed->order(), matrix->order());
  EXPECT_EQ(transposed->name(), matrix->name());
  std::vector<double> out(10 * 20);
  transposed->read_block<double>(33, 10, 5, 20, out.data(), 10);
  for (std::uint64_t j = 0; j < 20; ++j)
    for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(out[i + 10 * j], element(5 + j, 33 + i));
  EXPECT_EQ(wrong_elements<double>(*transposed->transposed(), 3, 30, 4, 50, 0), 0u);
}

TEST_P(MatrixReading, EveryBlockInMemoryIsCorrect) {
  const std::uint64_t rows = 500, columns = 700;  // more than a chunk
  const Stored matrix = stored(rows, columns);
  const Bytes all = matrix->data_bytes();
  for (const Bytes bytes : {Bytes{1}, all / 2, all, 4 * all}) {
    if (tests::sanitized && (bytes == 1 || bytes == all)) continue;
    const Stored kept = matrix->keeping(bytes), transposed = kept->transposed();
    const Bytes before = matrix->bytes_read();
    Random random(3);
    for (int piece = 0; piece < (tests::sanitized ? 4 : 40); ++piece) {
      const auto row = random.below(rows), column = random.below(columns);
      const auto row_count = 1 + random.below(rows - row), column_count = 1 + random.below(columns - column);
      ASSERT_EQ(wrong_elements<double>(*kept, row, row_count, column, column_count, 2000), 0u);
      double mirrored = 0;
      transposed->read_block<double>(column, 1, row, 1, &mirrored, 1);
      ASSERT_EQ(mirrored, element(row, column));
    }
    EXPECT_EQ(wrong_elements<float>(*kept, 0, rows, 0, columns, 2000), 0u);
    const Bytes read = kept->bytes_read() - before;
    EXPECT_EQ(wrong_elements<float>(*kept, 0, rows, 0, columns, 2000), 0u);
    const Bytes read_again = kept->bytes_read() - before - read;
    if (matrix->version() == FileVersion{}) {
      EXPECT_EQ(read, 0u);  // not from a file
    } else if (bytes < all) {
      EXPECT_GT(read_again, 0u);
    } else if (GetParam().order) {
      EXPECT_EQ(read, all);  // once
      EXPECT_EQ(read_again, 0u);
    } else if (bytes == 4 * all) {  // chunks may have more elements than the matrix
      EXPECT_EQ(read_again, 0u);
    }
  }
}

TEST(KeptMatrix, IsReadAgainIfItsFileHasChanged) {
  for (const MatrixKind& kind : {npy_kind("<f8", false, 1), raw_kind("<f4", true, 16)}) {
    const Directory directory;
    const Stored matrix = kind.store(directory, 50, 60, element), kept = matrix->keeping(1 << 20);
    EXPECT_EQ(wrong_elements<double>(*kept, 0, 50, 0, 60, 2000), 0u);
    const Bytes read = kept->bytes_read();
    EXPECT_EQ(wrong_elements<double>(*kept, 0, 50, 0, 60, 2000), 0u);
    EXPECT_EQ(kept->bytes_read(), read);
    std::ofstream(matrix->name(), std::ios::app) << "more";
    EXPECT_EQ(wrong_elements<double>(*kept, 0, 50, 0, 60, 2000), 0u);
    EXPECT_GT(kept->bytes_read(), read) << kind.name;
  }
}

TEST_P(MatrixReading, ABlockOutsideOfTheMatrixIsRejected) {
  const Stored matrix = stored(5, 6);
  std::vector<double> out(100);
  EXPECT_THROW(matrix->read_block<double>(0, 6, 0, 1, out.data(), 6), UsageError);
  EXPECT_THROW(matrix->read_block<double>(0, 1, 6, 1, out.data(), 6), UsageError);
  EXPECT_THROW(matrix->read_block<double>(4, ~std::uint64_t{0}, 0, 1, out.data(), 6), UsageError);
  EXPECT_THROW(matrix->read_block<double>(0, 5, 0, 6, out.data(), 4),
               UsageError);  // leading dimension below the column length
}

TEST_P(MatrixReading, ABandIsReadIntoTheRequestedTiles) {
  const Stored matrix = stored(50, 64);
  // Rows 10..39 and columns 3..52 in tiles of 16 x 20: 2 x 3 of them, the last ones partial.
  const std::uint64_t ld = 16;
  std::vector<std::vector<double>> tiles(6, std::vector<double>(16 * 20, -1));
  std::vector<double*> targets;
  for (auto& tile : tiles) targets.push_back(tile.data());
  targets[3] = nullptr;
  std::vector<std::byte> staging(1000);
  matrix->read_tiles<double>(10, 30, 3, 50, {targets, 16, 20, ld}, staging);
  for (std::uint64_t j = 0; j < 60; ++j)
    for (std::uint64_t i = 0; i < 32; ++i) {
      const auto tile = j / 20 * 2 + i / 16;
      const bool wanted = i < 30 && j < 50 && tile != 3;
      ASSERT_EQ(tiles[tile][i % 16 + j % 20 * ld], wanted ? element(10 + i, 3 + j) : -1) << i << " " << j;
    }
}

// One thread reads: under ThreadSanitizer few kinds are enough.
std::vector<MatrixKind> all_kinds() {
  std::vector<MatrixKind> all = matrix_kinds();
  for (const MatrixKind& kind : zarr_kinds()) all.push_back(kind);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kinds, MatrixReading,
                         testing::ValuesIn(tests::thread_sanitized ? std::vector{npy_kind("<f8", false, 1),
                                                                                 raw_kind(">f4", true, 3)}
                                                                   : all_kinds()));

// Long lines: the gaps between the blocks are skipped, not read.
TEST(NpyReadingWide, DistantBlocksAreCorrect) {
  const Directory directory;
  for (const bool fortran : {false, true}) {
    const std::uint64_t rows = fortran ? 20000 : 12, columns = fortran ? 12 : 20000;
    const NpyFile file(directory.file("A.npy", matrix("<f8", fortran, rows, columns)));
    const auto row = fortran ? 9000u : 2u, column = fortran ? 2u : 9000u;
    for (const std::size_t staging : {0u, 4096u, 100000u})
      EXPECT_EQ(wrong_elements<double>(file, row, fortran ? 9001 : 9, column, fortran ? 9 : 9001, staging),
                0u);
  }
}

// Short lines: gaps that are shorter than the block are read, longer ones are not.
TEST(NpyReadingNarrow, LittleMoreThanTheBlockIsRead) {
  const Directory directory;
  const std::uint64_t lines = 60, length = 200, size = sizeof(double);
  for (const bool fortran : {false, true}) {
    const NpyFile file(directory.file(
        "A.npy", fortran ? matrix("<f8", true, length, lines) : matrix("<f8", false, lines, length)));
    const auto bytes_for = [&](std::uint64_t along) {
      const Bytes before = file.bytes_read();
      EXPECT_EQ(fortran ? wrong_elements<double>(file, 40, along, 0, lines, 0)
                        : wrong_elements<double>(file, 0, lines, 40, along, 0),
                0u);
      return file.bytes_read() - before;
    };
    EXPECT_EQ(bytes_for(20), lines * 20 * size);
    EXPECT_EQ(bytes_for(150), ((lines - 1) * length + 150) * size);
  }
}

TEST(NpyReadingVector, AVectorIsOneColumn) {
  const Directory directory;
  const NpyFile file(
      directory.file("b.npy", header(1, dictionary("<f8", false, "(37,)")) + elements("<f8", true, 37, 1)));
  EXPECT_EQ(file.dimensions(), 1);
  EXPECT_EQ(file.rows(), 37u);
  EXPECT_EQ(file.columns(), 1u);
  EXPECT_EQ(wrong_elements<double>(file, 4, 33, 0, 1, 40), 0u);
}

TEST(NpyReadingThreads, ManyThreadsMayReadAtOnce) {
  const Directory directory;
  const NpyFile file(directory.file("A.npy", matrix("<f8", false, 200, 300)));
  std::vector<std::size_t> wrong(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
      threads.emplace_back([&, t] { wrong[t] = wrong_elements<double>(file, t * 50, 50, 0, 300, 10000); });
  }
  EXPECT_EQ(wrong, std::vector<std::size_t>(4));
}

TEST(NpyReadingMisuse, AFileThatShrinksDuringReadingIsAnError) {
  const Directory directory;
  const auto path = directory.file("A.npy", matrix("<f8", false, 50, 60));
  const NpyFile file(path);
  std::filesystem::resize_file(path, 10000);
  std::vector<double> out(3000);
  EXPECT_THROW(file.read_block<double>(0, 50, 0, 60, out.data(), 50), InputError);
}

}  // namespace
}  // namespace fairlead::data
