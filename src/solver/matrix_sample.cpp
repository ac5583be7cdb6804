// See matrix_sample.hpp.
#include "solver/matrix_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "base/scalar.hpp"

namespace fairlead::solver {

namespace {

class ShapeOnlyMatrix final : public data::StoredMatrix {
 public:
  ShapeOnlyMatrix(const std::string& name, data::ArrayLayout layout)
      : StoredMatrix(name, std::move(layout)) {}

  std::shared_ptr<const StoredMatrix> transposed() const override {
    return std::make_shared<const ShapeOnlyMatrix>(name(), transposed_layout());
  }
  std::shared_ptr<const StoredMatrix> keeping(Bytes) const override {
    return std::make_shared<const ShapeOnlyMatrix>(*this);
  }
  data::FileVersion version() const noexcept override {
    return {.bytes = data_bytes(), .modified_at = std::chrono::nanoseconds(1)};
  }

 protected:
  void read(const data::ElementBlock& block, std::span<std::byte> staging,
            data::ElementSink& sink) const override {
    const std::uint64_t capacity = staging.size() / sizeof(double);
    std::ranges::fill(staging, std::byte{0});
    const std::uint64_t rows = std::min(block.row_count, capacity),
                        columns = capacity / std::max<std::uint64_t>(rows, 1);
    for (std::uint64_t column = 0; column < block.column_count; column += columns)
      for (std::uint64_t row = 0; row < block.row_count; row += rows)
        sink.put({row, std::min(rows, block.row_count - row), column,
                  std::min(columns, block.column_count - column)},
                 {.first = staging.data(),
                  .stride = rows,
                  .order = data::StorageOrder::fortran,
                  .element = element(),
                  .byte_swapped = false});
  }
};

constexpr std::uint64_t block_side = 16, blocks_a_side = 8;

/// T: double, or its complex numbers.
template <class T>
MatrixSample sample_as(const data::StoredMatrix& matrix) {
  MatrixSample sample;
  const std::uint64_t n = matrix.rows();
  // Blocks at equal distances. Rounding may make the triangles differ by much more than a solve accepts where sums cancel:
  // only a difference in half of the digits, relative to the largest element of the block, is taken for asymmetry.
  const double tolerance =
      std::sqrt(is_single(matrix.element()) ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                            : std::numeric_limits<double>::epsilon());
  const std::uint64_t side = std::min(n, block_side),
                      distance = std::max<std::uint64_t>(1, n / blocks_a_side);
  std::array<T, block_side * block_side> below{}, above{};
  std::vector<std::byte> staging(std::size_t{1} << 16);
  bool is_below = false, is_above = false;  // elements that are not zero
  for (std::uint64_t i = 0; i + side <= n; i += distance)
    for (std::uint64_t j = 0; j <= i; j += distance) {
      matrix.read_block<T>(i, side, j, side, below.data(), side, staging);
      matrix.read_block<T>(j, side, i, side, above.data(), side, staging);
      double largest = 0;
      for (std::uint64_t k = 0; k < side * side; ++k)
        largest = std::max({largest, magnitude(below[k]), magnitude(above[k])});
      for (std::uint64_t column = 0; column < side; ++column)
        for (std::uint64_t row = 0; row < side; ++row) {
          is_below |= i + row > j + column && below[row + column * side] != T(0);
          is_above |= i + row > j + column && above[column + row * side] != T(0);
          if (magnitude(below[row + column * side] - above[column + row * side]) > tolerance * largest)
            sample.equals_transpose = false;
          if (sample.asymmetry.empty() &&
              magnitude(below[row + column * side] - conjugate(above[column + row * side])) >
                  tolerance * largest)
            sample.asymmetry = fmt::format(
                "{} is not {}: row {}, column {} (counted from 0) is {}, but row {}, "
                "column {} is {}",
                matrix.name(), is_complex_number<T> ? "Hermitian" : "symmetric", j + column, i + row,
                number_text(above[column + row * side]), i + row, j + column,
                number_text(below[row + column * side]));
        }
      if (i != j) continue;
      for (std::uint64_t k = 0; k < side; ++k)
        if (sample.not_positive.empty() && !(real_part(below[k + k * side]) > 0))
          sample.not_positive = fmt::format(
              "the matrix is not positive definite: the element in row and column {} (counted "
              "from 0) is {}",
              i + k, number_text(below[k + k * side]));
    }
  if (is_below != is_above) sample.triangle = is_below ? linalg::Stored::lower : linalg::Stored::upper;
  return sample;
}

}  // namespace

std::shared_ptr<const data::StoredMatrix> shape_only(const std::string& name, data::ElementType element,
                                                     std::int64_t rows, std::int64_t columns) {
  data::ArrayLayout layout{.element = element,
                           .shape = {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)}};
  data::require_matrix_shape(name, layout);
  return std::make_shared<const ShapeOnlyMatrix>(name, std::move(layout));
}

MatrixSample sample_of(const data::StoredMatrix& matrix) {
  if (dynamic_cast<const ShapeOnlyMatrix*>(&matrix) != nullptr || matrix.columns() != matrix.rows())
    return {};
  return is_complex(matrix.element()) ? sample_as<std::complex<double>>(matrix) : sample_as<double>(matrix);
}

}  // namespace fairlead::solver
