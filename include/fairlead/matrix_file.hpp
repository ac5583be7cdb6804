// Matrices in files and in memory as sources. A solver reads them in their own type and order.
//
//   const auto a = fairlead::linalg::open_matrix("A.npy");
//   const auto b = fairlead::linalg::matrix_in_memory(vector.data(), n, 1);
//   const auto c = fairlead::linalg::open_raw_matrix("C.bin", {.rows = n, .columns = n, .offset = 64});
#pragma once
#include <fairlead/element_type.hpp>
#include <fairlead/matrix_source.hpp>

#include <bit>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace fairlead::linalg {

/// Opens a file, whose format is recognized by its content: .npy, Zarr or HDF5. `name`: a path, or PATH::NAME for one of
/// several matrices in a file. A vector is a matrix with one column. Throws InputError that names the file and the problem:
/// missing, unreadable, truncated, of another format, element type or shape, with complex elements.
std::shared_ptr<const MatrixSource<double>> open_matrix(const std::string& name);

/// The same for a file with complex or real elements.
std::shared_ptr<const MatrixSource<std::complex<double>>> open_complex_matrix(const std::string& name);

/// The elements of a file without a header.
struct RawMatrix {
  std::int64_t rows = 0, columns = 1;
  ElementType element = ElementType::float64;
  StorageOrder order = StorageOrder::c;
  std::endian byte_order = std::endian::native;
  std::uint64_t offset = 0;  ///< of the first element, in bytes
};

/// Bytes behind the last element are ignored. Throws InputError that names the file and the problem: missing,
/// unreadable, empty, too short (with the number of missing bytes).
std::shared_ptr<const MatrixSource<double>> open_raw_matrix(const std::filesystem::path& path,
                                                            const RawMatrix& description);
std::shared_ptr<const MatrixSource<std::complex<double>>> open_raw_complex_matrix(
    const std::filesystem::path& path, const RawMatrix& description);

/// A matrix in memory, which is not copied: it must stay valid. `leading_dimension`: elements between the starts of
/// columns, or of rows in C order; 0: they are adjacent. `name`: for messages. Throws UsageError if a size is not
/// positive or the leading dimension too small.
std::shared_ptr<const MatrixSource<double>> matrix_in_memory(const double* elements, std::int64_t rows,
                                                             std::int64_t columns,
                                                             StorageOrder order = StorageOrder::fortran,
                                                             std::int64_t leading_dimension = 0,
                                                             std::string name = "the matrix");
std::shared_ptr<const MatrixSource<double>> matrix_in_memory(const float* elements, std::int64_t rows,
                                                             std::int64_t columns,
                                                             StorageOrder order = StorageOrder::fortran,
                                                             std::int64_t leading_dimension = 0,
                                                             std::string name = "the matrix");

std::shared_ptr<const MatrixSource<std::complex<double>>> matrix_in_memory(
    const std::complex<double>* elements, std::int64_t rows, std::int64_t columns,
    StorageOrder order = StorageOrder::fortran, std::int64_t leading_dimension = 0,
    std::string name = "the matrix");
std::shared_ptr<const MatrixSource<std::complex<double>>> matrix_in_memory(
    const std::complex<float>* elements, std::int64_t rows, std::int64_t columns,
    StorageOrder order = StorageOrder::fortran, std::int64_t leading_dimension = 0,
    std::string name = "the matrix");

/// A source of single precision for functions that accept one of double precision. The elements stay in single
/// precision where that suffices.
std::shared_ptr<const MatrixSource<double>> widened(std::shared_ptr<const MatrixSource<float>> source);
std::shared_ptr<const MatrixSource<std::complex<double>>> widened(
    std::shared_ptr<const MatrixSource<std::complex<float>>> source);

}  // namespace fairlead::linalg
