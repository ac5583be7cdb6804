// Columns are rounded to the type of their file.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <complex>
#include <vector>

#include "data/npy/files.hpp"
#include "data/npy/npy_columns.hpp"
#include "data/npy/npy_file.hpp"

namespace fairlead::data {
namespace {

using namespace test;

/// A value that single precision cannot hold.
double value(std::uint64_t i, std::uint64_t j) { return element(i, j) + 1.0 / 3; }

TEST(NpyColumns, AreRoundedToThePrecisionOfTheFile) {
  constexpr std::uint64_t rows = 1000, columns = 3, ld = 1010;
  std::vector<double> x(ld * columns, -1);
  for (std::uint64_t j = 0; j < columns; ++j)
    for (std::uint64_t i = 0; i < rows; ++i) x[i + j * ld] = value(i, j);
  const Directory directory;
  std::vector<std::byte> staging(256);
  for (const ElementType type : {ElementType::float32, ElementType::float64}) {
    NpyWriter out(directory / "x.npy", type, StorageOrder::c, {rows, columns});
    write_columns<double>(out, type, x.data(), ld, rows, columns, staging);
    out.commit();
    std::vector<double> back(rows * columns);
    NpyFile(directory / "x.npy").read_block<double>(0, rows, 0, columns, back.data(), rows, staging);
    for (std::uint64_t j = 0; j < columns; ++j)
      for (std::uint64_t i = 0; i < rows; ++i)
        ASSERT_EQ(back[i + j * rows],
                  type == ElementType::float64 ? value(i, j) : static_cast<float>(value(i, j)))
            << i << ", " << j;
  }
}

TEST(NpyColumns, RefuseToDropImaginaryParts) {
  const std::vector<std::complex<double>> x(4);
  const Directory directory;
  NpyWriter out(directory / "x.npy", ElementType::float64, StorageOrder::fortran, {4});
  EXPECT_THROW(write_columns(out, ElementType::float64, x.data(), 4, 4, 1, {}), UsageError);
}

}  // namespace
}  // namespace fairlead::data
