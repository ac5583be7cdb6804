// A matrix in single precision: the rounded elements of a matrix in double precision.
#pragma once
#include <fairlead/matrix_source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "algorithms/linalg/scratch_pool.hpp"

namespace fairlead::linalg {

class RoundedMatrix final : public MatrixSource<float> {
 public:
  /// The scratch memory for each thread that reads concurrently, in bytes.
  static constexpr std::size_t scratch_bytes = std::size_t{1} << 18;

  explicit RoundedMatrix(std::shared_ptr<const MatrixSource<double>> matrix)
      : matrix_(std::move(matrix)), scratch_(scratch_bytes) {}

  std::int64_t rows() const override { return matrix_->rows(); }
  std::int64_t columns() const override { return matrix_->columns(); }
  bool by_columns() const override { return matrix_->by_columns(); }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count,
            float* out, std::int64_t ld) const override {
    const auto lease = scratch_.lease();
    const auto piece = lease.template as<double>();
    const auto room = static_cast<std::int64_t>(piece.size());
    const std::int64_t height = std::min(row_count, room), width = std::min(column_count, room / height);
    for (std::int64_t i = 0; i < row_count; i += height)
      for (std::int64_t j = 0; j < column_count; j += width) {
        const std::int64_t rows = std::min(height, row_count - i),
                           columns = std::min(width, column_count - j);
        matrix_->read(row + i, rows, column + j, columns, piece.data(), rows);
        for (std::int64_t c = 0; c < columns; ++c)
          for (std::int64_t r = 0; r < rows; ++r)
            out[i + r + (j + c) * ld] = static_cast<float>(piece[static_cast<std::size_t>(r + c * rows)]);
      }
  }

 private:
  std::shared_ptr<const MatrixSource<double>> matrix_;
  mutable ScratchPool scratch_;
};

}  // namespace fairlead::linalg
