// The backward error, one task per band of rows. Each task processes its band in strips that fit in the scratch memory.
#include "algorithms/linalg/backward_error.hpp"

#include <fairlead/gather.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/column_block.hpp"
#include "algorithms/linalg/element_parts.hpp"
#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/pass_estimate.hpp"
#include "algorithms/linalg/residual_products.hpp"
#include "algorithms/linalg/scaled_residual.hpp"

namespace fairlead::linalg {

namespace {

constexpr std::size_t strip_elements = (std::size_t{1} << 20) / sizeof(double);
constexpr std::int64_t columns_at_once = 16;  // columns of x
constexpr std::int64_t block_width = 256;     // of the strips of sources that prefer blocks
// The maximum width of a strip, in columns. A strip of this width has 16 rows; the buffer for x has this many rows.
template <class T>
constexpr std::int64_t elements_of_strip = static_cast<std::int64_t>(strip_elements) /
                                           (is_complex_number<T> ? 4 : 1);
template <class T>
constexpr std::int64_t widest = elements_of_strip<T> / 16;

/// The memory of a strip, in numbers, for any source.
template <class T>
std::size_t largest_strip(std::int64_t rows, std::int64_t sides) noexcept {
  // Of real numbers as high as the band, of complex ones half as high.
  const std::int64_t of_block = widest_band(rows, sides) * block_width * (is_complex_number<T> ? 2 : 1);
  return std::max(strip_elements, static_cast<std::size_t>(of_block));
}

}  // namespace

/// The rows of the residual that a task computes. A column has the real parts of its rows, then the imaginary ones.
template <class T>
struct BackwardError<T>::RowsOfResidual {
  std::int64_t count;  ///< rows
  double* elements;    ///< of all columns
  ScaledResidual& scaled;
  double* x;  ///< scratch memory for columns of x

  std::int64_t first = 0;  ///< the rows of the current strip
  int rows = 0, wide = 0;
  bool transposed = false;

  static constexpr int parts = parts_of_number<T>;
  double* part(std::int64_t column, int part) const { return elements + (column * parts + part) * count; }
  /// The absolute value of an element.
  WideNumber size(std::int64_t row, std::int64_t column) const {
    if constexpr (is_complex_number<T>)
      return WideNumber(std::hypot(part(column, 0)[row], part(column, 1)[row]), scaled.scale(column));
    else
      return scaled.element(row, column);
  }
  WideNumber norm(std::int64_t column) const {
    if constexpr (!is_complex_number<T>) return scaled.norm(column);
    WideNumber largest;
    for (std::int64_t i = 0; i < count; ++i) largest = larger(largest, size(i, column));
    return largest;
  }
  void copy(std::int64_t column, Wide* to) const {
    if constexpr (is_complex_number<T>) {
      const int scale = scaled.scale(column);
      for (std::int64_t i = 0; i < count; ++i)
        to[i] = {std::ldexp(part(column, 0)[i], scale), std::ldexp(part(column, 1)[i], scale)};
    } else {
      scaled.copy(column, to);
    }
  }
};

template <class T>
BackwardError<T>::BackwardError(Kernels kernels, std::shared_ptr<const MatrixSource<Wide>> a,
                                std::shared_ptr<const MatrixSource<Wide>> b, const T* x, std::int64_t columns,
                                Wide* residual)
    : kernels_(std::move(kernels)),
      a_(std::move(a)),
      b_(std::move(b)),
      x_(x),
      columns_(columns),
      residual_(residual),
      band_(band_of(a_->by_blocks() ? PassOver::pieces : PassOver::lines, a_->rows(), columns)),
      scratch_(scratch_bytes_per_worker(a_->rows(), columns)) {
  norms_.residual.resize(static_cast<std::size_t>(columns));
  norms_.x.resize(static_cast<std::size_t>(columns));
  norms_.b.resize(static_cast<std::size_t>(columns));
  const auto n = static_cast<std::size_t>(a_->rows());
  residual_bounds_.resize(2 * n);
}

template <class T>
std::size_t BackwardError<T>::bytes(std::int64_t n) noexcept {
  return static_cast<std::size_t>(3 * n) * sizeof(double);
}

template <class T>
std::int64_t BackwardError<T>::preferred_columns(std::int64_t n, std::int64_t columns) noexcept {
  return columns_of_block(std::min(n, least_band), columns);
}

template <class T>
std::size_t BackwardError<T>::scratch_bytes_per_worker(std::int64_t n, std::int64_t columns) noexcept {
  // The buffers: a strip of A, or of a complex A a quarter of one and its parts; columns of x in double precision, as
  // long as a strip is wide; the residual of the band.
  const auto at_once = static_cast<std::size_t>(std::min(columns, columns_at_once));
  return sizeof(double) *
         (largest_strip<T>(n, columns) + at_once * (strip_elements / 16) +
          static_cast<std::size_t>(parts_of_number<T> * std::min(n, widest_band(n, columns)) * columns));
}

template <class T>
std::uint64_t BackwardError<T>::tasks() const noexcept {
  return static_cast<std::uint64_t>(bands_of(a_->rows(), band_));
}

template <class T>
std::int64_t BackwardError<T>::strip_width() const noexcept {
  return std::min(a_->columns(), a_->by_blocks() ? block_width : widest<T>);
}

template <class T>
void BackwardError<T>::submit(Flow& flow, std::uint32_t rank, std::uint32_t ranks) {
  ranks_ = ranks;
  compute_norms_of_x();
  const PassOver over = a_->by_blocks() ? PassOver::pieces : PassOver::lines;
  const auto judge = codelet("judge")
                         .cpu([this, gate = rundown_.gate()](std::int64_t row, std::int64_t count) {
                           if (const RundownProtection::Use use(*gate); use) compute_rows(row, count);
                         })
                         .duration([this, over](std::int64_t, std::int64_t count) {
                           return pass_duration(over, static_cast<double>(count * a_->columns()),
                                                a_->element_bytes(), columns_, is_complex_number<T>);
                         });
  for (std::int64_t row = 0; row < a_->rows(); row += band_)
    if (row / band_ % ranks == rank) flow.submit(judge(row, std::min(band_, a_->rows() - row)));
}

template <class T>
void BackwardError<T>::compute() {
  compute_norms_of_x();
  for (std::int64_t row = 0; row < a_->rows(); row += band_)
    compute_rows(row, std::min(band_, a_->rows() - row));
}

template <class T>
void BackwardError<T>::compute_norms_of_x() {
  const std::int64_t n = a_->columns();
  magnitudes_of_x_.assign(static_cast<std::size_t>(n), 0);
  norms_of_x_.assign(static_cast<std::size_t>(columns_), 0);
  for (std::int64_t c = 0; c < columns_; ++c) {
    const T* const x = x_ + c * n;
    double& norm = norms_of_x_[static_cast<std::size_t>(c)];
    for (std::int64_t i = 0; i < n; ++i) norm = larger(norm, magnitude(x[i]));
    if (!(norm > 0)) continue;
    for (std::int64_t i = 0; i < n; ++i) {
      double& size = magnitudes_of_x_[static_cast<std::size_t>(i)];
      size = larger(size, magnitude(x[i]) / norm);
    }
  }
}

template <class T>
void BackwardError<T>::combine_ranks(Runtime& runtime) {
  allgather_bands(runtime, residual_bounds_.data(), a_->rows(), 2, static_cast<std::int32_t>(band_), ranks_);
  if (residual_ != nullptr)
    allgather_bands(runtime, residual_, a_->rows(), columns_, static_cast<std::int32_t>(band_), ranks_);
  if (runtime.ranks() == 1) return;
  const std::lock_guard guard(mutex_);
  std::vector<WideNumber> own{norms_.a};
  for (auto* norms : {&norms_.residual, &norms_.x, &norms_.b})
    own.insert(own.end(), norms->begin(), norms->end());
  std::vector<double> numbers;
  for (const WideNumber& number : own) {
    numbers.push_back(number.fraction());
    numbers.push_back(number.exponent());
  }
  const std::vector<double> all = gather(runtime, numbers);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    WideNumber& so_far = own[i % numbers.size() / 2];
    so_far = larger(so_far, WideNumber(all[i], static_cast<int>(all[i + 1])));
  }
  norms_.a = own.front();
  auto next = own.cbegin() + 1;
  for (auto* norms : {&norms_.residual, &norms_.x, &norms_.b})
    for (WideNumber& norm : *norms) norm = *next++;
}

template <class T>
void BackwardError<T>::compute_rows(std::int64_t row, std::int64_t count) {
  constexpr int parts = parts_of_number<T>;
  const std::int64_t n = a_->columns();
  const auto columns = static_cast<std::size_t>(columns_);
  const auto lease = scratch_.lease();
  double* const strip = lease.template as<double>().data();
  double* const x = strip + largest_strip<T>(a_->rows(), columns_);
  double* const residual =
      x + static_cast<std::size_t>(std::min(columns_, columns_at_once)) * (strip_elements / 16);
  Norms part;
  part.residual.resize(columns);
  part.x.resize(columns);
  part.b.resize(columns);

  Wide* const b = reinterpret_cast<Wide*>(residual);
  b_->read(row, count, 0, columns_, b, count);
  std::vector<double> sizes(static_cast<std::size_t>(count));  // |b| + |A| |x|, relative to || x ||
  for (std::int64_t c = 0; c < columns_; ++c) {
    const auto place = static_cast<std::size_t>(c);
    const double norm = norms_of_x_[place];
    part.b[place] = WideNumber(largest_magnitude(b + c * count, count));
    part.x[place] = WideNumber(norm);
    for (std::int64_t i = 0; i < count; ++i) {
      const double size = magnitude(b[i + c * count]);
      double& of_row = sizes[static_cast<std::size_t>(i)];
      of_row = larger(of_row, size == 0 ? 0 : size / norm);
    }
    split_parts<Wide>(residual + c * parts * count, count);
  }
  ScaledResidual scaled(residual, parts * count, columns_);
  for (std::int64_t c = 0; c < columns_; ++c) scaled.set_x(c, norms_of_x_[static_cast<std::size_t>(c)]);
  RowsOfResidual of_rows{.count = count, .elements = residual, .scaled = scaled, .x = x};
  std::vector<double> row_sums(static_cast<std::size_t>(count));
  const std::int64_t width = strip_width();
  const auto in_strip =
      static_cast<std::int64_t>(largest_strip<T>(a_->rows(), columns_)) / (is_complex_number<T> ? 4 : 1);
  const std::int64_t height = std::min(count, (a_->by_blocks() ? in_strip : elements_of_strip<T>) / width);
  Wide* const elements = reinterpret_cast<Wide*>(strip);
  for (std::int64_t first = 0; first < count; first += height) {
    const auto rows = static_cast<int>(std::min(height, count - first));
    for (std::int64_t j = 0; j < n; j += width) {
      const auto wide = static_cast<int>(std::min(width, n - j));
      const bool transposed = a_->by_columns();
      if (transposed)
        a_->read(j, wide, row + first, rows, elements, wide);
      else
        a_->read(row + first, rows, j, wide, elements, rows);
      const std::int64_t size = static_cast<std::int64_t>(rows) * wide;
      scaled.prepare(ScaledResidual::largest_of(strip, parts * size));
      of_rows.first = first, of_rows.rows = rows, of_rows.wide = wide, of_rows.transposed = transposed;
      if constexpr (is_complex_number<T>) {
        double* const of_parts = strip + 2 * size;
        // The mirror image in a Hermitian matrix is the conjugate.
        split_elements(elements, size, of_parts, transposed);
        add_sizes({strip, rows, wide, transposed}, magnitudes_of_x_.data() + j, row_sums.data() + first,
                  sizes.data() + first);
        for (int p = 0; p < parts; ++p) subtract_strip(of_rows, of_parts + p * size, j, p);
      } else {
        add_sizes({strip, rows, wide, transposed}, magnitudes_of_x_.data() + j, row_sums.data() + first,
                  sizes.data() + first);
        subtract_strip(of_rows, strip, j, 0);
      }
    }
  }
  kernels_.count(Kernel::gemm, real_flops<T> * 2 * static_cast<double>(n) * static_cast<double>(count) *
                                   static_cast<double>(columns_));
  double sum = 0;
  for (const double of_row : row_sums) sum = larger(sum, of_row);
  part.a = std::isinf(sum) ? norm_of_rows(row, count, elements) : WideNumber(sum);
  for (std::int64_t c = 0; c < columns_; ++c) part.residual[static_cast<std::size_t>(c)] = of_rows.norm(c);
  bound_residual(row, of_rows, sizes);
  if (residual_ != nullptr)
    for (std::int64_t c = 0; c < columns_; ++c) of_rows.copy(c, residual_ + row + c * a_->rows());
  merge(part);
}

/// Subtracts the product of the strip, which starts at that column of A, and x. `part`: of the elements of A.
template <class T>
void BackwardError<T>::subtract_strip(const RowsOfResidual& of, const double* strip, std::int64_t column,
                                      int part) const {
  constexpr int parts = parts_of_number<T>;
  const std::int64_t n = a_->columns(), at_once = std::min(columns_, columns_at_once) * parts;
  const Strip elements{strip, of.rows, of.wide, of.transposed};
  std::vector<double> products(static_cast<std::size_t>(of.rows * at_once));
  std::vector<double> left_out(products.size());  // the rounding errors of the sums
  for (std::int64_t c = 0; c < columns_; c += columns_at_once) {
    const auto some = static_cast<int>(std::min(columns_at_once, columns_ - c));
    for (int k = 0; k < some; ++k)
      for (int p = 0; p < parts; ++p)
        for (int i = 0; i < of.wide; ++i)
          of.x[i + static_cast<std::int64_t>(k * parts + p) * of.wide] =
              of.scaled.scaled(c + k, part_of_product(x_[column + i + (c + k) * n], part, p));
    double* const r = of.part(c, 0) + of.first;
    std::ranges::fill(left_out, 0.0);
    subtract_products(kernels_, elements, {of.x, of.wide}, some * parts, products.data(), {r, of.count},
                      left_out.data());
    for (int y = 0; y < some * parts; ++y)
      for (int i = 0; i < of.rows; ++i)
        r[i + y * of.count] += left_out[static_cast<std::size_t>(y) * static_cast<std::size_t>(of.rows) +
                                        static_cast<std::size_t>(i)];
  }
}

template <class T>
void BackwardError<T>::bound_residual(std::int64_t row, const RowsOfResidual& of,
                                      const std::vector<double>& sizes) {
  // Each product that underflows is wrong by up to half of the smallest number. Products with a zero column of x are
  // exact.
  const double n = static_cast<double>(a_->columns()) * parts_of_number<T>;
  for (std::int64_t i = 0; i < of.count; ++i) {
    const double size = sizes[static_cast<std::size_t>(i)];
    double of_row = 0, direction = 1;
    for (std::int64_t c = 0; c < columns_; ++c) {
      const WideNumber norm(norms_of_x_[static_cast<std::size_t>(c)]);
      WideNumber r = of.size(i, c);
      const int scale = of.scaled.scale(c);
      if (size > 0 && !norm.is_zero() &&
          WideNumber(size) * norm < WideNumber(n * std::numeric_limits<double>::min(), scale))
        r = r + WideNumber(n * std::numeric_limits<double>::denorm_min(), scale);
      if (r.is_zero()) continue;
      const double here = (r / norm).value();
      if (!(here <= of_row)) direction = of.part(c, 0)[i];
      of_row = larger(of_row, here);
    }
    residual_bounds_[static_cast<std::size_t>(row + i)] = std::copysign(of_row, direction);
    residual_bounds_[static_cast<std::size_t>(a_->rows() + row + i)] = size;
  }
}

template <class T>
double BackwardError<T>::roundings_of_residual() const noexcept {
  constexpr std::int64_t parts = parts_of_number<T>;
  const std::int64_t n = a_->columns();
  // Of both parts of a complex number.
  const double of_parts = is_complex_number<T> ? std::sqrt(2.0) : 1;
  return of_parts * roundings_of_residual_in(parts * n, strip_width(), parts * columns_);
}

template <class T>
std::vector<double> BackwardError<T>::magnitudes() const {
  return {residual_bounds_.begin() + a_->rows(), residual_bounds_.end()};
}

template <class T>
std::vector<double> BackwardError<T>::residual_bound() const {
  std::vector<double> uncertain = magnitudes();
  const double part = roundings_of_residual() * unit_roundoff;
  for (std::size_t i = 0; i < uncertain.size(); ++i)
    uncertain[i] = std::abs(residual_bounds_[i]) + part * uncertain[i];
  return uncertain;
}

template <class T>
std::vector<double> BackwardError<T>::directed_residual_bound() const {
  std::vector<double> directed = residual_bound();
  for (std::size_t i = 0; i < directed.size(); ++i)
    directed[i] = std::copysign(directed[i], residual_bounds_[i]);
  return directed;
}

template <class T>
WideNumber BackwardError<T>::norm_of_rows(std::int64_t row, std::int64_t count, Wide* strip) const {
  const std::int64_t n = a_->columns();
  const std::int64_t width =
      std::min(n, a_->by_blocks() ? block_width / 2 : elements_of_strip<T> / least_band);
  std::vector<WideNumber> sums(static_cast<std::size_t>(count));
  for (std::int64_t j = 0; j < n; j += width) {
    const std::int64_t wide = std::min(width, n - j);
    const bool transposed = a_->by_columns();
    if (transposed)
      a_->read(j, wide, row, count, strip, wide);
    else
      a_->read(row, count, j, wide, strip, count);
    for (std::int64_t k = 0; k < wide; ++k)
      for (std::int64_t i = 0; i < count; ++i) {
        WideNumber& sum = sums[static_cast<std::size_t>(i)];
        sum = sum + WideNumber(magnitude(strip[transposed ? k + i * wide : i + k * count]));
      }
  }
  return *std::ranges::max_element(sums, [](const WideNumber& a, const WideNumber& b) { return a < b; });
}

template <class T>
void BackwardError<T>::merge(const Norms& part) {
  const std::lock_guard guard(mutex_);
  norms_.a = larger(norms_.a, part.a);
  for (std::size_t c = 0; c < norms_.x.size(); ++c) {
    norms_.residual[c] = larger(norms_.residual[c], part.residual[c]);
    norms_.x[c] = larger(norms_.x[c], part.x[c]);
    norms_.b[c] = larger(norms_.b[c], part.b[c]);
  }
}

template <class T>
double BackwardError<T>::value() const {
  const std::lock_guard guard(mutex_);
  const WideNumber by_least_number =
      norms_.a * WideNumber(static_cast<double>(std::numeric_limits<RealOf<T>>::denorm_min()));
  double worst = 0;
  for (std::size_t c = 0; c < norms_.x.size(); ++c) {
    const WideNumber scale = norms_.a * norms_.x[c] + norms_.b[c];
    const WideNumber residual = difference(norms_.residual[c], by_least_number);
    if (!scale.is_finite() || !residual.is_finite())  // an infinite divisor would hide any residual
      worst = std::numeric_limits<double>::quiet_NaN();
    else if (!residual.is_zero())
      worst = larger(worst, (residual / scale).value());
  }
  return worst;
}

template <class T>
double BackwardError<T>::matrix_norm() const {
  const std::lock_guard guard(mutex_);
  return norms_.a.value();
}

template class BackwardError<float>;
template class BackwardError<double>;
template class BackwardError<std::complex<float>>;
template class BackwardError<std::complex<double>>;

}  // namespace fairlead::linalg
