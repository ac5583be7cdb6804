// The symmetric matrix, or complex Hermitian one, of which one triangle is stored, or two triangles whose mean is used.
// Residuals are computed with this matrix, not with the stored one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "algorithms/linalg/scratch_pool.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "algorithms/linalg/symmetric_reader.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

/// Not for Stored::both, where the stored matrix is the matrix.
template <class T = double>
class SymmetricSource final : public MatrixSource<T> {
 public:
  /// The scratch memory for each thread that reads concurrently, in bytes: as much as StoredSource.
  static constexpr std::size_t scratch_bytes = source_staging_bytes;

  SymmetricSource(const std::shared_ptr<const data::StoredMatrix>& matrix, Stored stored)
      : matrix_(stored == Stored::upper ? matrix->transposed() : matrix, scratch_bytes / 2),
        mean_(stored == Stored::mean),
        of_transposed_(stored == Stored::upper),
        scratch_(scratch_bytes / 2) {}

  std::int64_t rows() const override { return matrix_.rows(); }
  std::int64_t columns() const override { return matrix_.columns(); }
  bool by_blocks() const override { return true; }
  std::string name() const override { return matrix_.name(); }
  std::size_t element_bytes() const override { return matrix_.element_bytes(); }

  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override {
    const auto lease = scratch_.lease();
    const auto mirrored = lease.template as<T>();
    const auto room = static_cast<std::int64_t>(mirrored.size());
    const std::int64_t height = std::min(row_count, std::int64_t{256}), width = room / height;
    for (std::int64_t i = 0; i < row_count; i += height)
      for (std::int64_t j = 0; j < column_count; j += width)
        read_block(row + i, std::min(height, row_count - i), column + j, std::min(width, column_count - j),
                   out + i + j * ld, ld, mirrored.data());
  }

 private:
  void read_block(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, T* out,
                  std::int64_t ld, T* mirrored) const {
    const bool below = row >= column + columns - (is_complex_number<T> ? 0 : 1), above = row + rows <= column;
    if (mean_ || !above) matrix_.read(row, rows, column, columns, out, ld);
    if (mean_ || !below) {
      matrix_.read(column, columns, row, rows, mirrored, columns);
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) {
          const T image = conjugate(mirrored[j + i * columns]);
          T& element = out[i + j * ld];
          if (mean_)
            element = element / 2.0 + image / 2.0;
          else if (row + i < column + j)
            element = image;
          else if (row + i == column + j)
            element = real_part(element);
        }
    }
    // The lower triangle of the transposed matrix holds the elements above the diagonal.
    if (is_complex_number<T> && of_transposed_)
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) out[i + j * ld] = conjugate(out[i + j * ld]);
  }

  StoredSource<T> matrix_;
  bool mean_, of_transposed_;
  mutable ScratchPool scratch_;
};

}  // namespace fairlead::linalg
