// A source of a matrix: provides any block at any time, any number of times, on any thread. It is read into tiles
// before a computation, and again to check or refine the result, so the original matrix need not stay in memory.
#pragma once
#include <fairlead/generated_by.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace fairlead::linalg {

template <class T>
class MatrixSource {
 public:
  virtual ~MatrixSource() = default;

  virtual std::int64_t rows() const = 0;
  virtual std::int64_t columns() const = 0;
  /// Reads `row_count` rows from `row` on and `column_count` columns from `column` on into column-major memory with
  /// leading dimension `ld`. Throws InputError or SystemError if they cannot be read.
  virtual void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
                    T* out, std::int64_t ld) const = 0;
  /// True if blocks of few columns and many rows are cheaper than blocks of few rows and many columns.
  virtual bool by_columns() const { return false; }
  /// True if nearly square blocks are cheaper than both.
  virtual bool by_blocks() const { return false; }
  /// For messages: the path of a file, for example.
  virtual std::string name() const { return "the matrix"; }
  /// The bytes of an element where it is stored. 4, or 8 of a complex one: single precision, although read() may convert
  /// to double precision.
  virtual std::size_t element_bytes() const { return sizeof(T); }
};

namespace detail {

template <class T, class Function>
class FunctionMatrix final : public MatrixSource<T> {
 public:
  FunctionMatrix(std::int64_t rows, std::int64_t columns, Function function, std::string name)
      : rows_(rows), columns_(columns), function_(std::move(function)), name_(std::move(name)) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t columns() const override { return columns_; }
  std::string name() const override { return name_; }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override {
    if constexpr (std::is_invocable_r_v<T, const Function&, std::int64_t, std::int64_t>) {
      for (std::int64_t j = 0; j < column_count; ++j)
        for (std::int64_t i = 0; i < row_count; ++i) out[i + j * ld] = function_(row + i, column + j);
    } else {
      function_(row, row_count, column, column_count, out, ld);
    }
  }

 private:
  std::int64_t rows_, columns_;
  Function function_;
  std::string name_;
};

}  // namespace detail

/// A matrix that a function computes: f(row, column) returns an element, or f(row, row_count, column, column_count,
/// T* out, ld) computes a block as MatrixSource::read() does. Any number of threads call it at the same time, and again
/// each time that elements are needed, so it must be deterministic and thread-safe. `name`: for messages.
template <class T = double, class Function>
std::shared_ptr<const MatrixSource<T>> matrix_from(std::int64_t rows, std::int64_t columns, Function function,
                                                   std::string name = "the matrix") {
  return std::make_shared<const detail::FunctionMatrix<T, Function>>(rows, columns, std::move(function),
                                                                     std::move(name));
}

/// For `Runtime::tiled` and `Runtime::matrix`: tiles are read from the source whenever they are needed, until a task
/// writes them.
template <class T>
auto generated_from(std::shared_ptr<const MatrixSource<T>> source) {
  return generated_by([source = std::move(source)](TileView<T> piece, std::int64_t row, std::int64_t column) {
    source->read(row, piece.rows(), column, piece.columns(), piece.data(), piece.leading_dimension());
  });
}

}  // namespace fairlead::linalg
