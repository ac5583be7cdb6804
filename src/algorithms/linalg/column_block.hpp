// Blocks of the columns of right-hand sides: computations whose memory grows with the number of columns work on one
// block at a time.
#pragma once
#include <fairlead/matrix_source.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace fairlead::linalg {

/// A block of columns of a matrix, as a matrix.
template <class T>
class ColumnBlock final : public MatrixSource<T> {
 public:
  ColumnBlock(std::shared_ptr<const MatrixSource<T>> all, std::int64_t first, std::int64_t count)
      : all_(std::move(all)), first_(first), count_(count) {}

  std::int64_t rows() const override { return all_->rows(); }
  std::int64_t columns() const override { return count_; }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override {
    all_->read(row, row_count, first_ + column, column_count, out, ld);
  }
  bool by_columns() const override { return all_->by_columns(); }
  bool by_blocks() const override { return all_->by_blocks(); }

 private:
  std::shared_ptr<const MatrixSource<T>> all_;
  std::int64_t first_, count_;
};

/// The number of columns of n elements to refine or check at once: more would need more memory, fewer would read the
/// matrix more often.
constexpr std::int64_t columns_of_block(std::int64_t n, std::int64_t columns) noexcept {
  constexpr std::int64_t elements = std::int64_t{1} << 17, least = 64;
  return std::min(columns, std::max(least, elements / n));
}

/// Calls each(first column, columns) for all blocks.
template <class Each>
void for_each_block(std::int64_t columns, std::int64_t at_once, const Each& each) {
  for (std::int64_t c = 0; c < columns; c += at_once) each(c, std::min(at_once, columns - c));
}

}  // namespace fairlead::linalg
