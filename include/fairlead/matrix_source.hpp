// A source of a matrix: provides any block at any time, any number of times, on any thread. It is read into tiles
// before a computation, and again to check or refine the result, so the original matrix need not stay in memory.
#pragma once
#include <fairlead/generated_by.hpp>

#include <cstdint>
#include <memory>
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
};

/// For `Runtime::tiled` and `Runtime::matrix`: tiles are read from the source whenever they are needed, until a task
/// writes them.
template <class T>
auto generated_from(std::shared_ptr<const MatrixSource<T>> source) {
  return generated_by([source = std::move(source)](TileView<T> piece, std::int64_t row, std::int64_t column) {
    source->read(row, piece.rows(), column, piece.columns(), piece.data(), piece.leading_dimension());
  });
}

}  // namespace fairlead::linalg
