// One task per band of columns; a task reads blocks of rows.
#include "algorithms/linalg/inverse_residual.hpp"

#include <fairlead/codelet.hpp>

#include <algorithm>
#include <cmath>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/pass_estimate.hpp"

namespace fairlead::linalg {

namespace {

constexpr std::int64_t block_rows = 256;  // rows of A per block

}  // namespace

template <class T>
InverseResidual<T>::InverseResidual(Kernels kernels, std::shared_ptr<const MatrixSource<Wide>> a,
                                    const std::vector<T>& y, const std::vector<std::int64_t>& rows,
                                    const std::vector<double>& shares)
    : kernels_(std::move(kernels)),
      a_(std::move(a)),
      y_(y),
      rows_(rows),
      shares_(shares),
      scratch_(scratch_bytes_per_worker(a_->columns(), std::ssize(rows))),
      sums_(2 * rows.size() * static_cast<std::size_t>(bands())) {}

template <class T>
std::size_t InverseResidual<T>::scratch_bytes_per_worker(std::int64_t n, std::int64_t rows) noexcept {
  const std::int64_t band = widest_band(n, rows);
  // A block of A; as many rows of y; the sums of a band.
  return sizeof(Wide) * static_cast<std::size_t>(band * block_rows + (block_rows + band) * rows);
}

template <class T>
PassOver InverseResidual<T>::pass() const noexcept {
  return a_->by_blocks() || a_->by_columns() ? PassOver::lines : PassOver::pieces;
}

template <class T>
std::int64_t InverseResidual<T>::band() const noexcept {
  return band_of(pass(), a_->columns(), std::ssize(rows_));
}

template <class T>
void InverseResidual<T>::submit(Flow& flow, std::uint32_t rank, std::uint32_t ranks) {
  ranks_ = ranks;
  const auto multiply_band =
      codelet("check inverse")
          .cpu([this, gate = rundown_.gate()](std::int64_t column, std::int64_t count) {
            if (const RundownProtection::Use use(*gate); use) multiply(column, count);
          })
          .duration([this](std::int64_t, std::int64_t count) {
            return pass_duration(pass(), static_cast<double>(count * a_->rows()), a_->element_bytes(),
                                 std::ssize(rows_), is_complex_number<T>);
          });
  const std::int64_t width = band();
  for (std::int64_t column = 0; column < a_->columns(); column += width)
    if (column / width % ranks == rank)
      flow.submit(multiply_band(column, std::min(width, a_->columns() - column)));
}

template <class T>
void InverseResidual<T>::multiply(std::int64_t column, std::int64_t count) {
  const std::int64_t n = a_->rows(), vectors = std::ssize(rows_);
  const auto lease = scratch_.lease();
  Wide* const a = lease.template as<Wide>().data();
  Wide* const y = a + band() * block_rows;
  Wide* const products = y + block_rows * vectors;
  const auto wide = static_cast<int>(count), sides = static_cast<int>(vectors);
  std::fill_n(products, count * vectors, Wide(0));
  for (std::int64_t row = 0; row < n; row += block_rows) {
    const auto rows = static_cast<int>(std::min(block_rows, n - row));
    a_->read(row, rows, column, count, a, rows);
    for (std::int64_t v = 0; v < vectors; ++v)
      for (std::int64_t i = 0; i < rows; ++i)
        y[i + v * rows] = scalar_cast<Wide>(y_[static_cast<std::size_t>(row + i + v * n)]);
    kernels_.blas().gemm<Wide>(adjoint<Wide>, Transpose::no, wide, sides, rows, 1, a, rows, y, rows, 1,
                               products, wide);
  }
  for (std::int64_t v = 0; v < vectors; ++v) {
    double product = 0, residual = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      const Wide element = products[j + v * count];
      const Wide off = element - (column + j == rows_[static_cast<std::size_t>(v)] ? 1.0 : 0.0);
      product += magnitude(element);
      residual += magnitude(off) * shares_[static_cast<std::size_t>(column + j)];
    }
    const auto place = static_cast<std::size_t>(column / band() + v * bands());
    sums_[place] = product;
    sums_[place + sums_.size() / 2] = residual;
  }
}

template <class T>
void InverseResidual<T>::combine_ranks(Runtime& runtime) {
  const std::int64_t bands = this->bands();
  allgather_bands(runtime, sums_.data(), bands, 2 * std::ssize(rows_), 1, ranks_);
  products_.assign(rows_.size(), 0);
  residuals_.assign(rows_.size(), 0);
  for (std::size_t v = 0; v < rows_.size(); ++v)
    for (std::int64_t i = 0; i < bands; ++i) {
      const auto place = v * static_cast<std::size_t>(bands) + static_cast<std::size_t>(i);
      products_[v] += sums_[place];
      residuals_[v] += sums_[place + sums_.size() / 2];
    }
}

template class InverseResidual<float>;
template class InverseResidual<double>;
template class InverseResidual<std::complex<float>>;
template class InverseResidual<std::complex<double>>;

}  // namespace fairlead::linalg
