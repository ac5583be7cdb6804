// Where the elements of a result go: memory of the program, a file, or a class of the program. A sink receives the result
// block by block, so the result may be larger than memory.
//
//   auto c = fairlead::linalg::npy_sink<double>("C.npy", rows, columns);
#pragma once
#include <fairlead/element_type.hpp>
#include <fairlead/ids.hpp>

#include <complex>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace fairlead::linalg {

template <class T>
class MatrixSink {
 public:
  virtual ~MatrixSink() = default;

  virtual std::int64_t rows() const = 0;
  virtual std::int64_t columns() const = 0;
  /// Receives `row_count` rows from `row` on and `column_count` columns from `column` on, in column-major memory with
  /// leading dimension `ld`. Each element comes once. Any number of threads call it at the same time. Throws SystemError if
  /// the elements cannot be stored.
  virtual void write(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
                     const T* in, std::int64_t ld) = 0;
  /// Called after all elements: the result is complete.
  virtual void commit() {}
  /// The memory that each thread in write() takes.
  virtual Bytes bytes_per_thread() const { return 0; }
};

/// The caller's memory, which must stay valid. `leading_dimension`: elements between the starts of columns, or of rows in C
/// order; 0: they are adjacent. Throws UsageError if a size is not positive or the leading dimension too small.
std::unique_ptr<MatrixSink<float>> sink_in_memory(float* elements, std::int64_t rows, std::int64_t columns,
                                                  StorageOrder order = StorageOrder::fortran,
                                                  std::int64_t leading_dimension = 0);
std::unique_ptr<MatrixSink<double>> sink_in_memory(double* elements, std::int64_t rows, std::int64_t columns,
                                                   StorageOrder order = StorageOrder::fortran,
                                                   std::int64_t leading_dimension = 0);
std::unique_ptr<MatrixSink<std::complex<float>>> sink_in_memory(std::complex<float>* elements,
                                                                std::int64_t rows, std::int64_t columns,
                                                                StorageOrder order = StorageOrder::fortran,
                                                                std::int64_t leading_dimension = 0);
std::unique_ptr<MatrixSink<std::complex<double>>> sink_in_memory(std::complex<double>* elements,
                                                                 std::int64_t rows, std::int64_t columns,
                                                                 StorageOrder order = StorageOrder::fortran,
                                                                 std::int64_t leading_dimension = 0);

namespace detail {
void open_npy_sink(std::unique_ptr<MatrixSink<float>>& sink, const std::filesystem::path& path,
                   std::int64_t rows, std::int64_t columns, StorageOrder order);
void open_npy_sink(std::unique_ptr<MatrixSink<double>>& sink, const std::filesystem::path& path,
                   std::int64_t rows, std::int64_t columns, StorageOrder order);
void open_npy_sink(std::unique_ptr<MatrixSink<std::complex<float>>>& sink, const std::filesystem::path& path,
                   std::int64_t rows, std::int64_t columns, StorageOrder order);
void open_npy_sink(std::unique_ptr<MatrixSink<std::complex<double>>>& sink, const std::filesystem::path& path,
                   std::int64_t rows, std::int64_t columns, StorageOrder order);
}  // namespace detail

/// A .npy file, which appears complete at commit(), or not at all; an old file stays until then. Allocates the disk space.
/// Throws UsageError if a size is not positive, SystemError that names the file. T: float, double, or a complex number of
/// these.
template <class T>
std::unique_ptr<MatrixSink<T>> npy_sink(const std::filesystem::path& path, std::int64_t rows,
                                        std::int64_t columns, StorageOrder order = StorageOrder::c) {
  std::unique_ptr<MatrixSink<T>> sink;
  detail::open_npy_sink(sink, path, rows, columns, order);
  return sink;
}

}  // namespace fairlead::linalg
