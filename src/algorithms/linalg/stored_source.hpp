// A stored matrix, or the columns of stored right-hand sides, as a source in double precision, whatever the stored type: of
// real numbers, or of complex ones, for which the stored elements may be real, too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <fairlead/matrix_source.hpp>
#include "algorithms/linalg/scratch_pool.hpp"
#include "base/scalar.hpp"
#include "data/matrix/stored_matrix.hpp"

namespace fairlead::linalg {

/// Whether rows may be read in place of columns, as they may for a symmetric matrix.
enum class Shape : std::uint8_t { symmetric, general };

/// The staging memory of a StoredSource, for each thread that reads concurrently; less suffices for a few columns.
inline constexpr std::size_t source_staging_bytes = std::size_t{1} << 20;

template <class T = double>
class StoredSource final : public MatrixSource<T> {
 public:
  explicit StoredSource(std::shared_ptr<const data::StoredMatrix> matrix,
                        std::size_t staging = source_staging_bytes, Shape shape = Shape::symmetric)
      : matrix_(std::move(matrix)), staging_(staging), shape_(shape) {}

  std::int64_t rows() const override { return static_cast<std::int64_t>(matrix_->rows()); }
  std::int64_t columns() const override { return static_cast<std::int64_t>(matrix_->columns()); }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override {
    const auto lease = staging_.lease();
    matrix_->template read_block<T>(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(row_count),
                                    static_cast<std::uint64_t>(column),
                                    static_cast<std::uint64_t>(column_count), out,
                                    static_cast<std::uint64_t>(ld), lease.bytes());
  }
  bool by_columns() const override { return in_columns() && shape_ == Shape::symmetric; }
  bool by_blocks() const override {
    return matrix_->by_blocks() || (in_columns() && shape_ == Shape::general);
  }
  std::string name() const override { return matrix_->name(); }
  std::size_t element_bytes() const override {
    return bytes_of(element_type(is_single(matrix_->element()), is_complex_number<T>));
  }

  const std::shared_ptr<const data::StoredMatrix>& stored() const noexcept { return matrix_; }

 private:
  bool in_columns() const noexcept { return matrix_->order() == data::StorageOrder::fortran; }

  std::shared_ptr<const data::StoredMatrix> matrix_;
  mutable ScratchPool staging_;
  Shape shape_;
};

}  // namespace fairlead::linalg
