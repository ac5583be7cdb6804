// A triangular matrix, of which another source has the elements: those on the other side of the diagonal are zero, whatever
// the source has there.
#pragma once
#include <fairlead/matrix_source.hpp>
#include <fairlead/stored.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace fairlead::linalg {

template <class T>
class TriangleSource final : public MatrixSource<T> {
 public:
  /// `triangle`: lower or upper.
  TriangleSource(std::shared_ptr<const MatrixSource<T>> matrix, Stored triangle)
      : matrix_(std::move(matrix)), is_lower_(triangle == Stored::lower) {}

  std::int64_t rows() const override { return matrix_->rows(); }
  std::int64_t columns() const override { return matrix_->columns(); }
  bool by_columns() const override { return matrix_->by_columns(); }
  bool by_blocks() const override { return matrix_->by_blocks(); }
  std::string name() const override { return matrix_->name(); }
  std::size_t element_bytes() const override { return matrix_->element_bytes(); }

  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override {
    // The rows and columns of the block that have elements of the triangle.
    const std::int64_t end_row = row + row_count, end_column = column + column_count;
    const std::int64_t top = is_lower_ ? std::max(row, column) : row,
                       bottom = is_lower_ ? end_row : std::min(end_row, end_column),
                       left = is_lower_ ? column : std::max(column, row),
                       right = is_lower_ ? std::min(end_column, end_row) : end_column;
    if (top < bottom && left < right)
      matrix_->read(top, bottom - top, left, right - left, out + (top - row) + (left - column) * ld, ld);
    for (std::int64_t j = 0; j < column_count; ++j) {
      T* const elements = out + j * ld;
      const std::int64_t diagonal = column + j - row;  // its place in this column of the block
      if (is_lower_)
        std::fill_n(elements, std::clamp<std::int64_t>(diagonal, 0, row_count), T(0));
      else
        std::fill(elements + std::clamp<std::int64_t>(diagonal + 1, 0, row_count), elements + row_count,
                  T(0));
    }
  }

 private:
  std::shared_ptr<const MatrixSource<T>> matrix_;
  bool is_lower_;
};

}  // namespace fairlead::linalg
