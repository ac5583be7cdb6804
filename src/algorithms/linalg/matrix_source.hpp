// Where a matrix comes from: any piece of it can be had at any time, as often as wanted, on any thread. The
// source is read into tiles before a computation, and once more after it to judge the result.
#pragma once
#include <cstdint>

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
};

}  // namespace fairlead::linalg
