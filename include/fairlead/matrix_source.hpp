// Where a matrix comes from: any piece of it can be had at any time, as often as wanted, on any thread. The
// source is read into tiles before a computation, and again after it to judge or to refine the result: what
// cannot be kept in memory is made or read once more.
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
  /// The elements of `row_count` rows from `row` on and `column_count` columns from `column` on, in
  /// column-major memory with `ld` elements from one column to the next. Throws InputError or SystemError if
  /// they cannot be had.
  virtual void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
                    T* out, std::int64_t ld) const = 0;
  /// Whether pieces of few columns and many rows are cheaper than the other way round.
  virtual bool by_columns() const { return false; }
  /// Whether pieces about as wide as high are cheaper than both.
  virtual bool by_blocks() const { return false; }
};

/// For `Runtime::tiled` and `Runtime::matrix`: the tiles are read from the source whenever they are needed,
/// until something has written them.
template <class T>
auto generated_from(std::shared_ptr<const MatrixSource<T>> source) {
  return generated_by([source = std::move(source)](TileView<T> piece, std::int64_t row, std::int64_t column) {
    source->read(row, piece.rows(), column, piece.columns(), piece.data(), piece.leading_dimension());
  });
}

}  // namespace fairlead::linalg
