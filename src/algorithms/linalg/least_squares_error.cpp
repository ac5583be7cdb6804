// Computes the residual by bands of rows and A^H r by bands of columns, one task each, so that the order of the sums is
// fixed.
#include "algorithms/linalg/least_squares_error.hpp"

#include <fairlead/codelet.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/element_parts.hpp"
#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/pass_estimate.hpp"
#include "algorithms/linalg/residual_products.hpp"
#include "algorithms/linalg/squares.hpp"
#include "algorithms/linalg/wide_number.hpp"

namespace fairlead::linalg {

namespace {

/// Columns or rows of A per block, whose other side is that of the band.
template <class T>
constexpr std::int64_t piece = is_complex_number<T> ? 128 : 256;
constexpr std::int64_t sides_at_once = 16;  // columns of x or r per block, of real numbers
/// Numbers in a block of A; of a complex one also those of its parts.
template <class T>
std::size_t block_numbers(std::int64_t band) noexcept {
  return static_cast<std::size_t>(band * piece<T>) * (is_complex_number<T> ? 4 : 1);
}

/// The Euclidean norm, without overflow.
template <class X>
double norm_of_vector(const X* elements, std::int64_t length) {
  const RealOf<X>* const vector = parts_of(elements);
  const std::int64_t count = length * parts_of_number<X>;
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i)
    largest = larger(largest, std::abs(static_cast<double>(vector[i])));
  if (!(largest > 0) || std::isinf(largest)) return largest;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double scaled = static_cast<double>(vector[i]) / largest;
    sum += scaled * scaled;
  }
  return largest * std::sqrt(sum);
}

double quotient(double of, double by) noexcept { return of == 0 ? 0 : of / by; }

/// The binary exponent of the number; 0 for zero and for numbers that are not finite.
int exponent_of(double number) noexcept {
  return number != 0 && std::isfinite(number) ? std::ilogb(number) : 0;
}

}  // namespace

template <class T>
LeastSquaresError<T>::LeastSquaresError(Kernels kernels, std::shared_ptr<const MatrixSource<Wide>> a,
                                        std::shared_ptr<const MatrixSource<Wide>> b, const T* x,
                                        std::int64_t ld, std::int64_t columns)
    : kernels_(std::move(kernels)),
      a_(std::move(a)),
      b_(std::move(b)),
      x_(x),
      ld_(ld),
      columns_(columns),
      scratch_(scratch_bytes_per_worker(a_->rows(), columns)),
      residual_(static_cast<std::size_t>(parts_of_number<T> * a_->rows() * columns)),
      normal_(static_cast<std::size_t>(parts_of_number<T> * a_->columns() * columns)),
      squares_of_a_(3 * static_cast<std::size_t>(bands_of_rows())),
      exponents_(static_cast<std::size_t>(columns)),
      norms_{.b = std::vector<double>(static_cast<std::size_t>(columns)),
             .x = std::vector<double>(static_cast<std::size_t>(columns))},
      largest_of_x_(static_cast<std::size_t>(columns)),
      magnitudes_of_x_(static_cast<std::size_t>(a_->columns())),
      magnitudes_(static_cast<std::size_t>(a_->rows())),
      sizes_of_residual_(static_cast<std::size_t>(a_->rows())),
      sizes_of_normal_(static_cast<std::size_t>(a_->columns())) {}

template <class T>
Bytes LeastSquaresError<T>::bytes(std::int64_t rows, std::int64_t columns) noexcept {
  return static_cast<Bytes>(rows * columns) * (2 * sizeof(WideOf<T>) + sizeof(T)) +
         static_cast<Bytes>(4 * rows) * sizeof(double);
}

template <class T>
Bytes LeastSquaresError<T>::scratch_bytes_per_worker(std::int64_t rows, std::int64_t columns) noexcept {
  const std::int64_t band = widest_band(rows, columns);
  // A block of A; as much of x or r; the sums of a band.
  return sizeof(double) * (block_numbers<T>(band) +
                           static_cast<std::size_t>(parts_of_number<T> * (piece<T> + band) * columns));
}

template <class T>
PassOver LeastSquaresError<T>::pass(bool by_columns) const noexcept {
  return a_->by_blocks() == by_columns ? PassOver::lines : PassOver::pieces;
}

template <class T>
std::int64_t LeastSquaresError<T>::band(bool by_columns) const noexcept {
  return band_of(pass(by_columns), by_columns ? a_->columns() : a_->rows(), columns_);
}

template <class T>
std::int64_t LeastSquaresError<T>::bands_of_rows() const noexcept {
  return bands_of(a_->rows(), band(false));
}

template <class T>
std::uint64_t LeastSquaresError<T>::tasks() const noexcept {
  return static_cast<std::uint64_t>(bands_of_rows() + bands_of(a_->columns(), band(true)));
}

template <class T>
void LeastSquaresError<T>::subtract(const Strip& a, Columns<const double> x, Columns<double> r) const {
  const std::int64_t columns = columns_ * parts_of_number<T>, at_once = std::min(columns, sides_at_once);
  std::vector<double> products(static_cast<std::size_t>(a.rows * at_once)), left_out(products.size());
  for (std::int64_t c = 0; c < columns; c += sides_at_once) {
    const auto some = static_cast<int>(std::min(sides_at_once, columns - c));
    std::ranges::fill(left_out, 0.0);
    subtract_products(kernels_, a, {x.elements + c * x.ld, x.ld}, some, products.data(),
                      {r.elements + c * r.ld, r.ld}, left_out.data());
    for (std::int64_t y = 0; y < some; ++y)
      for (std::int64_t i = 0; i < a.rows; ++i)
        r.elements[i + (c + y) * r.ld] += left_out[static_cast<std::size_t>(y * a.rows + i)];
  }
}

/// Subtracts the product of the strip A, or of A^H if it is by rows, and vectors whose elements are element_of(i, column).
/// A becomes its absolute values. `x`: scratch memory for the vectors.
template <class T>
template <class ElementOf>
void LeastSquaresError<T>::subtract_strip(Wide* a, const Strip& shape, const ElementOf& element_of, double* x,
                                          Columns<double> r) const {
  constexpr int parts = parts_of_number<T>;
  const std::int64_t size = static_cast<std::int64_t>(shape.rows) * shape.columns;
  double* const of_parts = parts == 1 ? parts_of(a) : parts_of(a) + 2 * size;
  if constexpr (parts == 2) split_elements(a, size, of_parts, shape.by_rows);
  for (int of_a = 0; of_a < parts; ++of_a) {
    for (std::int64_t c = 0; c < columns_; ++c)
      for (int p = 0; p < parts; ++p)
        for (std::int64_t i = 0; i < shape.columns; ++i)
          x[i + (c * parts + p) * shape.columns] = part_of_product(element_of(i, c), of_a, p);
    subtract({of_parts + of_a * size, shape.rows, shape.columns, shape.by_rows}, {x, shape.columns}, r);
  }
}

template <class T>
void LeastSquaresError<T>::compute_norms_of_x() {
  const std::int64_t n = a_->columns();
  for (std::int64_t c = 0; c < columns_; ++c) {
    const T* const x = x_ + c * ld_;
    norms_.x[static_cast<std::size_t>(c)] = norm_of_vector(x, n);
    double& largest = largest_of_x_[static_cast<std::size_t>(c)];
    for (std::int64_t i = 0; i < n; ++i) largest = larger(largest, magnitude(x[i]));
    for (std::int64_t i = 0; i < n; ++i) {
      double& size = magnitudes_of_x_[static_cast<std::size_t>(i)];
      size = larger(size, quotient(magnitude(x[i]), largest));
    }
  }
}

template <class T>
void LeastSquaresError<T>::residual_of_rows(std::int64_t row, std::int64_t count) {
  constexpr int parts = parts_of_number<T>;
  const std::int64_t m = a_->rows(), n = a_->columns();
  const auto lease = scratch_.lease();
  double* const numbers = lease.template as<double>().data();
  double* const x = numbers + block_numbers<T>(band(false));
  double* const r = x + parts * piece<T> * columns_;
  const auto rows = static_cast<int>(count);
  Wide *const a = reinterpret_cast<Wide*>(numbers), *const b = reinterpret_cast<Wide*>(r);
  b_->read(row, count, 0, columns_, b, count);
  double* const sizes = magnitudes_.data() + row;
  for (std::int64_t c = 0; c < columns_; ++c) {
    for (std::int64_t i = 0; i < count; ++i)
      sizes[i] =
          larger(sizes[i], quotient(magnitude(b[i + c * count]), largest_of_x_[static_cast<std::size_t>(c)]));
    split_parts<Wide>(r + c * parts * count, count);
  }
  std::vector<double> row_sums(static_cast<std::size_t>(count));
  Squares squares;
  for (std::int64_t j = 0; j < n; j += piece<T>) {
    const auto wide = static_cast<int>(std::min(piece<T>, n - j));
    a_->read(row, count, j, wide, a, count);
    squares.add({numbers, static_cast<std::size_t>(parts * count * wide)});
    const Strip strip{numbers, rows, wide, false};
    subtract_strip(a, strip, [&](std::int64_t i, std::int64_t c) { return x_[j + i + c * ld_]; }, x,
                   {r, count});
    add_sizes(strip, magnitudes_of_x_.data() + j, row_sums.data(), sizes);
  }
  double* place = squares_of_a_.data() + row / band(false);
  for (const double sum : {squares.large, squares.medium, squares.small}) {
    *place = sum;
    place += bands_of_rows();
  }
  for (std::int64_t c = 0; c < parts * columns_; ++c)
    std::copy_n(r + c * count, count, residual_.data() + row + c * m);
}

template <class T>
void LeastSquaresError<T>::normal_of_columns(std::int64_t column, std::int64_t count) {
  constexpr int parts = parts_of_number<T>;
  const std::int64_t m = a_->rows(), n = a_->columns(), all = parts * columns_;
  const auto lease = scratch_.lease();
  double* const numbers = lease.template as<double>().data();
  double* const x = numbers + block_numbers<T>(band(true));
  double* const sums = x + parts * piece<T> * columns_;
  Wide* const a = reinterpret_cast<Wide*>(numbers);
  const auto wide = static_cast<int>(count);
  std::vector<double> row_sums(static_cast<std::size_t>(count));
  std::fill_n(sums, count * all, 0.0);
  for (std::int64_t row = 0; row < m; row += piece<T>) {
    const auto rows = static_cast<int>(std::min(piece<T>, m - row));
    a_->read(row, rows, column, count, a, rows);
    const Strip strip{numbers, wide, rows, true};
    subtract_strip(a, strip,
                   [&](std::int64_t i, std::int64_t c) { return element_of(residual_, m, row + i, c); }, x,
                   {sums, count});
    add_sizes(strip, sizes_of_residual_.data() + row, row_sums.data(), sizes_of_normal_.data() + column);
  }
  for (std::int64_t i = 0; i < count * all; ++i) sums[i] = -sums[i];
  for (std::int64_t c = 0; c < all; ++c)
    std::copy_n(sums + c * count, count, normal_.data() + column + c * n);
}

template <class T>
void LeastSquaresError<T>::check(Runtime& runtime, Flow& flow, std::int32_t tile,
                                 const ApplyQTransposed& rotate, const std::function<void()>& wait,
                                 std::uint32_t readers, const Distribution* distribution) {
  constexpr int parts = parts_of_number<T>;
  const std::int64_t m = a_->rows(), n = a_->columns();
  const std::int64_t of_rows = band(false), of_columns = band(true);
  // True if this rank, of `readers`, computes the band.
  const auto own = [rank = runtime.rank(), readers](std::int64_t number) { return number % readers == rank; };
  compute_norms_of_x();
  const auto duration_of = [this](std::int64_t other_side, bool by_columns) {
    return [this, other_side, over = pass(by_columns)](std::int64_t, std::int64_t count) {
      return pass_duration(over, static_cast<double>(count * other_side), a_->element_bytes(), columns_,
                           is_complex_number<T>);
    };
  };
  const auto rows_codelet = codelet("judge")
                                .cpu([this, gate = rundown_.gate()](std::int64_t row, std::int64_t count) {
                                  if (const RundownProtection::Use use(*gate); use)
                                    residual_of_rows(row, count);
                                })
                                .duration(duration_of(n, false));
  for (std::int64_t row = 0; row < m; row += of_rows)
    if (own(row / of_rows)) flow.submit(rows_codelet(row, std::min(of_rows, m - row)));
  std::vector<Wide> some(static_cast<std::size_t>(m));
  for (std::int64_t c = 0; c < columns_ && runtime.rank() == 0; ++c) {
    b_->read(0, m, c, 1, some.data(), m);
    norms_.b[static_cast<std::size_t>(c)] = norm_of_vector(some.data(), m);
  }
  wait();
  allreduce_max(runtime, norms_.b);
  allgather_bands(runtime, residual_.data(), m, parts * columns_, static_cast<std::int32_t>(of_rows),
                  readers);
  allgather_bands(runtime, squares_of_a_.data(), bands_of_rows(), 3, 1, readers);
  allgather_bands(runtime, magnitudes_.data(), m, 1, static_cast<std::int32_t>(of_rows), readers);
  // Scale the residual to about 1 by powers of two, which is exact: A^T r could overflow or underflow.
  for (std::int64_t c = 0; c < columns_; ++c) {
    const int exponent = exponents_[static_cast<std::size_t>(c)] = exponent_of(norm_of(residual_, m, c));
    for (std::int64_t i = 0; i < m; ++i) {
      double& size = sizes_of_residual_[static_cast<std::size_t>(i)];
      size = larger(size, relative_to_x(magnitude(element_of(residual_, m, i, c)), c));
    }
    for (std::int64_t i = c * parts * m; i < (c + 1) * parts * m; ++i) {
      double& r = residual_[static_cast<std::size_t>(i)];
      r = std::scalbn(r, -exponent);
    }
  }
  const auto columns_codelet =
      codelet("judge")
          .cpu([this, gate = rundown_.gate()](std::int64_t column, std::int64_t count) {
            if (const RundownProtection::Use use(*gate); use) normal_of_columns(column, count);
          })
          .duration(duration_of(m, true));
  for (std::int64_t column = 0; column < n; column += of_columns)
    if (own(column / of_columns)) flow.submit(columns_codelet(column, std::min(of_columns, n - column)));
  // Scale to norm 1: the residual may be too small for T.
  rotated_.resize(static_cast<std::size_t>(m * columns_));
  for (std::int64_t c = 0; c < columns_; ++c) {
    const double size = norm_of(residual_, m, c);
    for (std::int64_t i = 0; i < m; ++i) {
      const Wide r = element_of(residual_, m, i, c);
      rotated_[static_cast<std::size_t>(i + c * m)] = r == Wide(0) ? T(0) : scalar_cast<T>(r / size);
    }
  }
  DistributedColumns<T> rotated(runtime, "residual", rotated_.data(), m, columns_, tile, distribution);
  rotate(flow, rotated.tiles());
  wait();
  rotated.gather();
  allgather_bands(runtime, normal_.data(), n, parts * columns_, static_cast<std::int32_t>(of_columns),
                  readers);
  allgather_bands(runtime, sizes_of_normal_.data(), n, 1, static_cast<std::int32_t>(of_columns), readers);
  checked_norms_.normal.clear();
  checked_norms_.rotated_residual.clear();
  for (std::int64_t c = 0; c < columns_; ++c) {
    checked_norms_.normal.push_back(norm_of(normal_, n, c));
    checked_norms_.rotated_residual.push_back(norm_of_vector(rotated_.data() + c * m, n));
  }
}

template <class T>
void LeastSquaresError<T>::restrict_to(std::vector<double> norms_of_normal,
                                       std::vector<double> norms_of_rotated) {
  checked_norms_.normal = std::move(norms_of_normal);
  checked_norms_.rotated_residual = std::move(norms_of_rotated);
}

template <class T>
double LeastSquaresError<T>::relative_to_x(double number, std::int64_t column) const {
  return quotient(std::abs(std::scalbn(number, -exponent_of_matrix())),
                  largest_of_x_[static_cast<std::size_t>(column)]);
}

template <class T>
int LeastSquaresError<T>::exponent_of_matrix() const noexcept {
  return exponent_of(norm_of_a());
}

template <class T>
std::vector<double> LeastSquaresError<T>::normal_residual_bound() const {
  const std::int64_t m = a_->rows(), n = a_->columns();
  const double part = roundings(m) * unit_roundoff;
  const int exponent = exponent_of_matrix();
  std::vector<double> uncertain(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    double& of_row = uncertain[static_cast<std::size_t>(i)];
    for (std::int64_t c = 0; c < columns_; ++c) {
      const double scaled = std::scalbn(magnitude(element_of(normal_, n, i, c)), -exponent);
      of_row = larger(of_row, relative_to_x(std::scalbn(scaled, exponents_[static_cast<std::size_t>(c)]), c));
    }
    of_row += part * std::scalbn(sizes_of_normal_[static_cast<std::size_t>(i)], -exponent);
  }
  return uncertain;
}

template <class T>
double LeastSquaresError<T>::residual_bound() const {
  const double part = roundings(a_->columns()) * unit_roundoff;
  return part * std::scalbn(norm_of_vector(magnitudes_.data(), a_->rows()), -exponent_of_matrix());
}

template <class T>
double LeastSquaresError<T>::norm_of_a() const noexcept {
  Squares squares;
  const auto bands = static_cast<std::size_t>(bands_of_rows());
  for (std::size_t i = 0; i < bands; ++i) {
    squares.large += squares_of_a_[i];
    squares.medium += squares_of_a_[i + bands];
    squares.small += squares_of_a_[i + 2 * bands];
  }
  return squares.root();
}

template <class T>
double LeastSquaresError<T>::norm_of(const std::vector<double>& vectors, std::int64_t rows,
                                     std::int64_t column) const {
  constexpr int parts = parts_of_number<T>;
  return norm_of_vector(vectors.data() + parts * column * rows, parts * rows);
}

template <class T>
WideOf<T> LeastSquaresError<T>::element_of(const std::vector<double>& vectors, std::int64_t rows,
                                           std::int64_t row, std::int64_t column) const {
  return joined_parts<Wide>(vectors.data() + parts_of_number<T> * column * rows, rows, row);
}

template <class T>
std::vector<WideOf<T>> LeastSquaresError<T>::normal_residual() const {
  const std::int64_t n = a_->columns();
  std::vector<Wide> all(static_cast<std::size_t>(n * columns_));
  for (std::int64_t c = 0; c < columns_; ++c)
    for (std::int64_t i = 0; i < n; ++i)
      all[static_cast<std::size_t>(i + c * n)] = element_of(normal_, n, i, c);
  return all;
}

/// Of a residual with as many terms.
template <class T>
double LeastSquaresError<T>::roundings(std::int64_t terms) const noexcept {
  constexpr std::int64_t parts = parts_of_number<T>;
  // Of both parts of a complex number.
  const double of_parts = is_complex_number<T> ? std::sqrt(2.0) : 1;
  return of_parts * roundings_of_residual_in(parts * terms, piece<T>, parts * columns_);
}

template <class T>
double LeastSquaresError<T>::norm_of_residual(std::int64_t column) const {
  return std::scalbn(norm_of(residual_, a_->rows(), column), exponents_[static_cast<std::size_t>(column)]);
}

template <class T>
double LeastSquaresError<T>::value() const {
  const WideNumber a(norm_of_a());
  double worst = 0;
  for (std::int64_t c = 0; c < columns_; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const WideNumber scale = a * WideNumber(norms_.x[i]) + WideNumber(norms_.b[i]);
    const WideNumber residual(norm_of(residual_, a_->rows(), c), exponents_[i]),
        normal(checked_norms_.normal[i], exponents_[i]), rotated(checked_norms_.rotated_residual[i]);
    // An infinite divisor would hide any residual.
    if (!scale.is_finite() && !residual.is_zero()) return std::numeric_limits<double>::quiet_NaN();
    if (!normal.is_zero()) worst = larger(worst, (normal / (a * scale)).value());
    if (!rotated.is_zero()) worst = larger(worst, (rotated * residual / scale).value());
  }
  return worst;
}

template <class T>
double LeastSquaresError<T>::relative_residual() const {
  double worst = 0;
  for (std::int64_t c = 0; c < columns_; ++c)
    if (const double b = norms_.b[static_cast<std::size_t>(c)]; b > 0)
      worst = larger(worst, norm_of_residual(c) / b);
  return worst;
}

template <class T>
double LeastSquaresError<T>::residual_excess() const {
  const double rounding =
      std::sqrt(static_cast<double>(a_->rows())) * std::numeric_limits<double>::epsilon() / 2;
  double worst = 0;
  for (std::int64_t c = 0; c < columns_; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const double b = norms_.b[i];
    if (!(b > 0)) continue;
    // || r || minus the norm of its part orthogonal to the range of A, computed without cancellation.
    const double part = std::min(checked_norms_.rotated_residual[i], 1.0),
                 avoidable = part * part / (1 + std::sqrt(1 - part * part));
    if (std::isnan(checked_norms_.rotated_residual[i])) return checked_norms_.rotated_residual[i];
    worst = larger(worst,
                   avoidable * (norm_of_residual(c) / b) + rounding * (1 + norm_of_a() * (norms_.x[i] / b)));
  }
  return worst;
}

template <class T>
double LeastSquaresError<T>::ratio_to_residual() const {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t c = 0; c < columns_; ++c)
    if (const double r = norm_of_residual(c); r > 0)
      least = std::min(least, norm_of_a() * norms_.x[static_cast<std::size_t>(c)] / r);
  return least;
}

template class LeastSquaresError<float>;
template class LeastSquaresError<double>;
template class LeastSquaresError<std::complex<float>>;
template class LeastSquaresError<std::complex<double>>;

}  // namespace fairlead::linalg
