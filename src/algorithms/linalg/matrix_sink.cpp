// Results in memory and in .npy files.
#include <fairlead/matrix_sink.hpp>

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "algorithms/linalg/scratch_pool.hpp"
#include "base/scalar.hpp"
#include "data/npy/npy_writer.hpp"

namespace fairlead::linalg {

namespace {

void require_elements(std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1)
    throw UsageError(fmt::format("a result of {} x {} elements has none", rows, columns));
}

template <class T>
class MemorySink final : public MatrixSink<T> {
 public:
  MemorySink(T* elements, std::int64_t rows, std::int64_t columns, StorageOrder order,
             std::int64_t leading_dimension)
      : elements_(elements),
        rows_(rows),
        columns_(columns),
        row_stride_(order == StorageOrder::c ? leading_dimension : 1),
        column_stride_(order == StorageOrder::c ? 1 : leading_dimension) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t columns() const override { return columns_; }
  void write(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
             const T* in, std::int64_t ld) override {
    // Squares stay in the cache, whichever order is that of the memory.
    constexpr std::int64_t side = 32;
    T* const out = elements_ + row * row_stride_ + column * column_stride_;
    for (std::int64_t first_row = 0; first_row < row_count; first_row += side)
      for (std::int64_t first_column = 0; first_column < column_count; first_column += side) {
        const std::int64_t end_row = std::min(first_row + side, row_count),
                           end_column = std::min(first_column + side, column_count);
        for (std::int64_t j = first_column; j < end_column; ++j)
          for (std::int64_t i = first_row; i < end_row; ++i)
            out[i * row_stride_ + j * column_stride_] = in[i + j * ld];
      }
  }

 private:
  T* elements_;
  std::int64_t rows_, columns_, row_stride_, column_stride_;
};

template <class T>
class NpySink final : public MatrixSink<T> {
 public:
  NpySink(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns, StorageOrder order)
      : rows_(rows),
        columns_(columns),
        writer_(path, element_type_of<T>, order,
                {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)}),
        staging_(order == StorageOrder::c ? staging_bytes : 0) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t columns() const override { return columns_; }
  void write(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
             const T* in, std::int64_t ld) override {
    const auto lease = staging_.lease();
    const auto size = [](std::int64_t count) { return static_cast<std::uint64_t>(count); };
    writer_.template write_block<T>(size(row), size(row_count), size(column), size(column_count), in,
                                    size(ld), lease.bytes());
  }
  void commit() override { writer_.commit(); }
  Bytes bytes_per_thread() const override { return staging_bytes; }

 private:
  static constexpr std::size_t staging_bytes = std::size_t{64} * 1024;

  std::int64_t rows_, columns_;
  data::NpyWriter writer_;
  ScratchPool staging_;
};

template <class T>
std::unique_ptr<MatrixSink<T>> memory_sink(T* elements, std::int64_t rows, std::int64_t columns,
                                           StorageOrder order, std::int64_t leading_dimension) {
  require_elements(rows, columns);
  const std::int64_t line = order == StorageOrder::c ? columns : rows;
  if (leading_dimension != 0 && leading_dimension < line)
    throw UsageError(fmt::format("the leading dimension {} of the result is smaller than a {} of {} elements",
                                 leading_dimension, order == StorageOrder::c ? "row" : "column", line));
  return std::make_unique<MemorySink<T>>(elements, rows, columns, order,
                                         leading_dimension == 0 ? line : leading_dimension);
}

template <class T>
std::unique_ptr<MatrixSink<T>> file_sink(const std::filesystem::path& path, std::int64_t rows,
                                         std::int64_t columns, StorageOrder order) {
  require_elements(rows, columns);
  return std::make_unique<NpySink<T>>(path, rows, columns, order);
}

}  // namespace

std::unique_ptr<MatrixSink<float>> sink_in_memory(float* elements, std::int64_t rows, std::int64_t columns,
                                                  StorageOrder order, std::int64_t leading_dimension) {
  return memory_sink(elements, rows, columns, order, leading_dimension);
}
std::unique_ptr<MatrixSink<double>> sink_in_memory(double* elements, std::int64_t rows, std::int64_t columns,
                                                   StorageOrder order, std::int64_t leading_dimension) {
  return memory_sink(elements, rows, columns, order, leading_dimension);
}
std::unique_ptr<MatrixSink<std::complex<float>>> sink_in_memory(std::complex<float>* elements,
                                                                std::int64_t rows, std::int64_t columns,
                                                                StorageOrder order,
                                                                std::int64_t leading_dimension) {
  return memory_sink(elements, rows, columns, order, leading_dimension);
}
std::unique_ptr<MatrixSink<std::complex<double>>> sink_in_memory(std::complex<double>* elements,
                                                                 std::int64_t rows, std::int64_t columns,
                                                                 StorageOrder order,
                                                                 std::int64_t leading_dimension) {
  return memory_sink(elements, rows, columns, order, leading_dimension);
}

namespace detail {

void open_npy_sink(std::unique_ptr<MatrixSink<float>>& sink, const std::filesystem::path& path,
                   std::int64_t rows, std::int64_t columns, StorageOrder order) {
  sink = file_sink<float>(path, rows, columns, order);
}
void open_npy_sink(std::unique_ptr<MatrixSink<double>>& sink, const std::filesystem::path& path,
                   std::int64_t rows, std::int64_t columns, StorageOrder order) {
  sink = file_sink<double>(path, rows, columns, order);
}
void open_npy_sink(std::unique_ptr<MatrixSink<std::complex<float>>>& sink, const std::filesystem::path& path,
                   std::int64_t rows, std::int64_t columns, StorageOrder order) {
  sink = file_sink<std::complex<float>>(path, rows, columns, order);
}
void open_npy_sink(std::unique_ptr<MatrixSink<std::complex<double>>>& sink, const std::filesystem::path& path,
                   std::int64_t rows, std::int64_t columns, StorageOrder order) {
  sink = file_sink<std::complex<double>>(path, rows, columns, order);
}

}  // namespace detail
}  // namespace fairlead::linalg
