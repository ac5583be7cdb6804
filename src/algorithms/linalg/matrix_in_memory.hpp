// Vectors in memory as a matrix source in double precision, whatever their type, for right-hand sides.
#pragma once
#include <fairlead/matrix_source.hpp>

#include <cstdint>

namespace fairlead::linalg {

/// Column-major and contiguous; the memory must stay valid. Reads return its contents at that time.
template <class T>
class MatrixInMemory final : public MatrixSource<double> {
 public:
  MatrixInMemory(const T* elements, std::int64_t rows, std::int64_t columns) noexcept
      : elements_(elements), rows_(rows), columns_(columns) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t columns() const override { return columns_; }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
            double* out, std::int64_t ld) const override {
    for (std::int64_t j = 0; j < column_count; ++j)
      for (std::int64_t i = 0; i < row_count; ++i)
        out[i + j * ld] = static_cast<double>(elements_[row + i + (column + j) * rows_]);
  }

 private:
  const T* elements_;
  std::int64_t rows_, columns_;
};

}  // namespace fairlead::linalg
