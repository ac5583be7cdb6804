// Complex elements, however they are stored: each part has the byte order of the file, and real tiles do not receive them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/error.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "data/matrix/raw_file.hpp"
#include "data/npy/files.hpp"
#include "data/npy/npy_file.hpp"
#include "data/npy/npy_writer.hpp"

namespace fairlead::data {
namespace {

using namespace test;
using testing::HasSubstr;
using Complex = std::complex<double>;

constexpr std::uint64_t rows = 5, columns = 7;

Complex complex_at(std::uint64_t i, std::uint64_t j) {
  return {static_cast<double>(i) + 0.5, -static_cast<double>(j) - 0.25};
}

template <class Part>
void append(std::string& bytes, double part, bool big_endian) {
  const auto value = static_cast<Part>(part);
  char one[sizeof(Part)];
  std::memcpy(one, &value, sizeof(Part));
  if (big_endian) std::reverse(std::begin(one), std::end(one));
  bytes.append(one, sizeof(Part));
}

std::string complex_elements(const std::string& descr, bool fortran) {
  std::string bytes;
  for (std::uint64_t a = 0; a < (fortran ? columns : rows); ++a)
    for (std::uint64_t b = 0; b < (fortran ? rows : columns); ++b) {
      const Complex value = fortran ? complex_at(b, a) : complex_at(a, b);
      for (const double part : {value.real(), value.imag()})
        descr.ends_with("c8") ? append<float>(bytes, part, descr[0] == '>')
                              : append<double>(bytes, part, descr[0] == '>');
    }
  return bytes;
}

template <class T>
void expect_complex_elements(const StoredMatrix& matrix, const std::string& what) {
  std::vector<T> out(rows * columns);
  alignas(16) std::byte staging[48];  // few elements at a time
  for (const std::size_t size : {sizeof(staging), std::size_t{16}}) {
    std::ranges::fill(out, T(0));
    matrix.read_block<T>(0, rows, 0, columns, out.data(), rows, {staging, size});
    for (std::uint64_t j = 0; j < columns; ++j)
      for (std::uint64_t i = 0; i < rows; ++i)
        ASSERT_EQ(Complex(out[i + j * rows]), complex_at(i, j)) << what;
  }
}

TEST(ComplexElements, OfNumPyFilesAreRead) {
  const Directory directory;
  for (const std::string descr : {"<c8", "<c16", ">c8", ">c16", "=c16"})
    for (const bool fortran : {false, true}) {
      const NpyFile file(directory.file("A.npy", header(1, dictionary(descr, fortran, shape(rows, columns))) +
                                                     complex_elements(descr, fortran)));
      EXPECT_EQ(file.element(), descr.ends_with("c8") ? ElementType::complex64 : ElementType::complex128);
      EXPECT_EQ(file.data_bytes(), rows * columns * (descr.ends_with("c8") ? 8 : 16));
      expect_complex_elements<Complex>(file, descr);
      expect_complex_elements<std::complex<float>>(file, descr);
      expect_complex_elements<Complex>(*file.keeping(1 << 20), descr);
      const auto transposed = file.transposed();
      Complex element;
      transposed->read_block<Complex>(6, 1, 3, 1, &element, 1);
      EXPECT_EQ(element, complex_at(3, 6));
    }
}

TEST(ComplexElements, AreNotReadAsRealOnes) {
  const Directory directory;
  const NpyFile file(directory.file(
      "A.npy", header(1, dictionary("<c16", false, shape(rows, columns))) + complex_elements("<c16", false)));
  double element = 3;
  try {
    file.read_block<double>(0, 1, 0, 1, &element, 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("A.npy: holds complex numbers; real ones are needed here"));
  }
  EXPECT_EQ(element, 3);
}

TEST(ComplexElements, MayBeReal) {
  const Directory directory;
  const NpyFile file(directory.file("A.npy", matrix("<f4", true, 3, 4)));
  std::vector<std::complex<float>> out(12);
  file.read_block<std::complex<float>>(0, 3, 0, 4, out.data(), 3);
  for (std::uint64_t j = 0; j < 4; ++j)
    for (std::uint64_t i = 0; i < 3; ++i)
      EXPECT_EQ(out[i + 3 * j], std::complex<float>(static_cast<float>(element(i, j))));
}

TEST(ComplexElements, OfRawFilesMustBeComplete) {
  const Directory directory;
  const auto path = directory.file("A.bin", std::string(7, 'x') + complex_elements(">c8", true));
  const ArrayLayout layout{.element = ElementType::complex64,
                           .byte_swapped = true,
                           .order = StorageOrder::fortran,
                           .shape = {rows, columns}};
  expect_complex_elements<Complex>(*open_raw_file(path, layout, 7), "raw");
  EXPECT_THROW(open_raw_file(path, layout, 8), InputError);
}

TEST(ComplexElements, AreWrittenAsNumPyWritesThem) {
  const Directory directory;
  for (const auto order : {StorageOrder::c, StorageOrder::fortran}) {
    NpyWriter writer(directory / "x.npy", ElementType::complex128, order, {rows, columns});
    std::vector<Complex> in;
    for (std::uint64_t j = 0; j < columns; ++j)
      for (std::uint64_t i = 0; i < rows; ++i) in.push_back(complex_at(i, j));
    EXPECT_THROW(writer.write_block<double>(0, 1, 0, 1, nullptr, 1), UsageError);
    writer.write_block<Complex>(0, rows, 0, columns, in.data(), rows);
    writer.commit();
    const std::string bytes = content(directory / "x.npy");
    EXPECT_THAT(bytes, HasSubstr("'descr': '<c16'"));
    EXPECT_TRUE(bytes.ends_with(complex_elements("<c16", order == StorageOrder::fortran)));
  }
}

}  // namespace
}  // namespace fairlead::data
