// The residual by bands of rows, A^T r by bands of columns: a task each, so that sums have one order.
#include "algorithms/linalg/least_squares_error.hpp"

#include <fairlead/codelet.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/dealt_columns.hpp"
#include "algorithms/linalg/over_ranks.hpp"

namespace fairlead::linalg {

namespace {

constexpr std::int64_t band = 256;   // rows or columns of A of a task
constexpr std::int64_t piece = 256;  // of the other side, at once
constexpr std::size_t piece_elements = static_cast<std::size_t>(band * piece);

std::int64_t bands_of(std::int64_t elements) noexcept { return (elements + band - 1) / band; }

/// The larger, or NaN if one of them is.
double worse(double a, double b) noexcept {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(a, b);
}

/// Without overflow.
template <class X>
double norm_of_vector(const X* vector, std::int64_t count) {
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = worse(largest, std::abs(static_cast<double>(vector[i])));
  if (!(largest > 0) || std::isinf(largest)) return largest;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double scaled = static_cast<double>(vector[i]) / largest;
    sum += scaled * scaled;
  }
  return largest * std::sqrt(sum);
}

double quotient(double of, double by) noexcept { return of == 0 ? 0 : of / by; }

// What is squared is between these, or is scaled to be: so no sum overflows or vanishes.
constexpr double largest_squared = 0x1p480, least_squared = 0x1p-500;
constexpr double to_medium = 0x1p-600;  // from the large; from the small its inverse

/// The sums of squares of elements by their size (Blue 1978); those that are neither large nor small are not scaled.
struct Squares {
  double large = 0, medium = 0, small = 0;

  void add(double element) noexcept {
    const double size = std::abs(element);
    if (size > largest_squared)
      large += size * to_medium * (size * to_medium);
    else if (size < least_squared)
      small += size / to_medium * (size / to_medium);
    else
      medium += size * size;  // or it is not a number
  }
  /// In order. Where none is large or small, which is seen at once, that is a plain sum.
  void add(std::span<const double> elements) noexcept {
    int others = 0;
    for (const double element : elements) {
      const double size = std::abs(element);
      others |= static_cast<int>(size > largest_squared) |
                (static_cast<int>(size < least_squared) & static_cast<int>(size > 0));
    }
    if (others != 0)
      for (const double element : elements) add(element);
    else
      for (const double element : elements) medium += element * element;
  }
  double root() const noexcept {
    constexpr double beside = to_medium * to_medium;
    if (std::isnan(medium)) return medium;
    if (large > 0) return std::sqrt(large + medium * beside) / to_medium;
    if (medium > 0) return std::sqrt(medium + small * beside);
    return std::sqrt(small) * to_medium;
  }
};

/// That 2^exponent is of the number's size.
int exponent_of(double number) noexcept {
  return number != 0 && std::isfinite(number) ? std::ilogb(number) : 0;
}

}  // namespace

template <class T>
LeastSquaresError<T>::LeastSquaresError(Kernels kernels, std::shared_ptr<const MatrixSource<double>> a,
                                        std::shared_ptr<const MatrixSource<double>> b, const T* x,
                                        std::int64_t ld, std::int64_t columns)
    : kernels_(std::move(kernels)),
      a_(std::move(a)),
      b_(std::move(b)),
      x_(x),
      ld_(ld),
      columns_(columns),
      scratch_(scratch_bytes_per_worker(columns)),
      residual_(static_cast<std::size_t>(a_->rows() * columns)),
      normal_(static_cast<std::size_t>(a_->columns() * columns)),
      squares_of_a_(3 * static_cast<std::size_t>(bands_of(a_->rows()))),
      exponents_(static_cast<std::size_t>(columns)),
      norms_of_b_(static_cast<std::size_t>(columns)),
      norms_of_x_(static_cast<std::size_t>(columns)) {}

template <class T>
Bytes LeastSquaresError<T>::bytes(std::int64_t rows, std::int64_t columns) noexcept {
  return static_cast<Bytes>(rows * columns) * (2 * sizeof(double) + sizeof(T));
}

template <class T>
Bytes LeastSquaresError<T>::scratch_bytes_per_worker(std::int64_t columns) noexcept {
  // A piece of A; as much of x or r; sums of a band.
  return sizeof(double) * (piece_elements + 2 * static_cast<std::size_t>(band * columns));
}

template <class T>
std::uint64_t LeastSquaresError<T>::tasks(std::int64_t rows, std::int64_t columns_of_a) noexcept {
  return static_cast<std::uint64_t>(bands_of(rows) + bands_of(columns_of_a));
}

template <class T>
void LeastSquaresError<T>::residual_of_rows(std::int64_t row, std::int64_t count) {
  const std::int64_t m = a_->rows(), n = a_->columns();
  const auto lease = scratch_.lease();
  double* const a = lease.template as<double>().data();
  double* const x = a + piece_elements;
  double* const r = x + band * columns_;
  const auto rows = static_cast<int>(count), sides = static_cast<int>(columns_);
  b_->read(row, count, 0, columns_, r, count);
  Squares squares;
  for (std::int64_t j = 0; j < n; j += piece) {
    const auto wide = static_cast<int>(std::min(piece, n - j));
    a_->read(row, count, j, wide, a, count);
    squares.add({a, static_cast<std::size_t>(count * wide)});
    for (std::int64_t c = 0; c < columns_; ++c)
      for (std::int64_t i = 0; i < wide; ++i) x[i + c * wide] = static_cast<double>(x_[j + i + c * ld_]);
    kernels_.blas().gemm<double>(Transpose::no, Transpose::no, rows, sides, wide, -1, a, rows, x, wide, 1, r,
                                 rows);
  }
  double* place = squares_of_a_.data() + row / band;
  for (const double sum : {squares.large, squares.medium, squares.small}) {
    *place = sum;
    place += bands_of(m);
  }
  for (std::int64_t c = 0; c < columns_; ++c)
    std::copy_n(r + c * count, count, residual_.data() + row + c * m);
}

template <class T>
void LeastSquaresError<T>::normal_of_columns(std::int64_t column, std::int64_t count) {
  const std::int64_t m = a_->rows(), n = a_->columns();
  const auto lease = scratch_.lease();
  double* const a = lease.template as<double>().data();
  double* const sums = a + piece_elements;
  const auto wide = static_cast<int>(count), sides = static_cast<int>(columns_);
  std::fill_n(sums, count * columns_, 0.0);
  for (std::int64_t row = 0; row < m; row += piece) {
    const auto rows = static_cast<int>(std::min(piece, m - row));
    a_->read(row, rows, column, count, a, rows);
    kernels_.blas().gemm<double>(Transpose::yes, Transpose::no, wide, sides, rows, 1, a, rows,
                                 residual_.data() + row, static_cast<int>(m), 1, sums, wide);
  }
  for (std::int64_t c = 0; c < columns_; ++c)
    std::copy_n(sums + c * count, count, normal_.data() + column + c * n);
}

template <class T>
void LeastSquaresError<T>::judge(Runtime& runtime, Flow& flow, std::int32_t tile, const Rotate& rotate,
                                 const std::function<void()>& wait, std::uint32_t readers,
                                 const Distribution* distribution) {
  const std::int64_t m = a_->rows(), n = a_->columns();
  // Of so many ranks the part of this one.
  const auto own = [rank = runtime.rank(), readers](std::int64_t first) {
    return first / band % readers == rank;
  };
  const auto rows_codelet =
      codelet("judge").cpu([this](std::int64_t row, std::int64_t count) { residual_of_rows(row, count); });
  for (std::int64_t row = 0; row < m; row += band)
    if (own(row)) flow.submit(rows_codelet(row, std::min(band, m - row)));
  for (std::int64_t c = 0; c < columns_; ++c)
    norms_of_x_[static_cast<std::size_t>(c)] = norm_of_vector(x_ + c * ld_, n);
  std::vector<double> some(static_cast<std::size_t>(m));
  for (std::int64_t c = 0; c < columns_ && runtime.rank() == 0; ++c) {
    b_->read(0, m, c, 1, some.data(), m);
    norms_of_b_[static_cast<std::size_t>(c)] = norm_of_vector(some.data(), m);
  }
  wait();
  largest_of_ranks(runtime, norms_of_b_);
  share_bands(runtime, residual_.data(), m, columns_, static_cast<std::int32_t>(band), readers);
  share_bands(runtime, squares_of_a_.data(), bands_of(m), 3, 1, readers);
  // By powers of two to the size of one, which rounds nothing: A^T r could overflow or vanish.
  for (std::int64_t c = 0; c < columns_; ++c) {
    const int exponent = exponents_[static_cast<std::size_t>(c)] = exponent_of(norm_of(residual_, m, c));
    for (std::int64_t i = c * m; i < (c + 1) * m; ++i) {
      double& r = residual_[static_cast<std::size_t>(i)];
      r = std::scalbn(r, -exponent);
    }
  }
  const auto columns_codelet = codelet("judge").cpu(
      [this](std::int64_t column, std::int64_t count) { normal_of_columns(column, count); });
  for (std::int64_t column = 0; column < n; column += band)
    if (own(column)) flow.submit(columns_codelet(column, std::min(band, n - column)));
  // To exactly the size of one: what is left of b may be too small for T.
  rotated_.resize(residual_.size());
  for (std::int64_t c = 0; c < columns_; ++c) {
    const double size = norm_of(residual_, m, c);
    for (std::int64_t i = c * m; i < (c + 1) * m; ++i)
      rotated_[static_cast<std::size_t>(i)] =
          static_cast<T>(quotient(residual_[static_cast<std::size_t>(i)], size));
  }
  DealtColumns<T> rotated(runtime, "residual", rotated_.data(), m, columns_, tile, distribution);
  rotate(flow, rotated.tiles());
  wait();
  rotated.bring_back();
  share_bands(runtime, normal_.data(), n, columns_, static_cast<std::int32_t>(band), readers);
  norms_of_normal_.clear();
  norms_of_rotated_.clear();
  for (std::int64_t c = 0; c < columns_; ++c) {
    norms_of_normal_.push_back(norm_of(normal_, n, c));
    norms_of_rotated_.push_back(norm_of_vector(rotated_.data() + c * m, n));
  }
}

template <class T>
void LeastSquaresError<T>::restrict_to(std::vector<double> norms_of_normal,
                                       std::vector<double> norms_of_rotated) {
  norms_of_normal_ = std::move(norms_of_normal);
  norms_of_rotated_ = std::move(norms_of_rotated);
}

template <class T>
double LeastSquaresError<T>::norm_of_a() const noexcept {
  Squares squares;
  const auto bands = static_cast<std::size_t>(bands_of(a_->rows()));
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
  return norm_of_vector(vectors.data() + column * rows, rows);
}

template <class T>
double LeastSquaresError<T>::norm_of_residual(std::int64_t column) const {
  return std::scalbn(norm_of(residual_, a_->rows(), column), exponents_[static_cast<std::size_t>(column)]);
}

template <class T>
double LeastSquaresError<T>::value() const {
  const double a = norm_of_a();
  const int exponent_of_a = exponent_of(a);
  double worst = 0;
  for (std::int64_t c = 0; c < columns_; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const double scale = a * norms_of_x_[i] + norms_of_b_[i], residual = norm_of_residual(c);
    // By an infinite scale every residual would be none.
    if (std::isinf(scale) && residual != 0) return std::numeric_limits<double>::quiet_NaN();
    // A^T r is of the scaled residual; A is scaled for it.
    worst = worse(worst, quotient(std::scalbn(norms_of_normal_[i], -exponent_of_a),
                                  std::scalbn(a, -exponent_of_a) * std::scalbn(scale, -exponents_[i])));
    worst = worse(worst, quotient(norms_of_rotated_[i] * residual, scale));
  }
  return worst;
}

template <class T>
double LeastSquaresError<T>::relative_residual() const {
  double worst = 0;
  for (std::int64_t c = 0; c < columns_; ++c)
    if (const double b = norms_of_b_[static_cast<std::size_t>(c)]; b > 0)
      worst = worse(worst, norm_of_residual(c) / b);
  return worst;
}

template <class T>
double LeastSquaresError<T>::residual_excess() const {
  const double rounding =
      std::sqrt(static_cast<double>(a_->rows())) * std::numeric_limits<double>::epsilon() / 2;
  double worst = 0;
  for (std::int64_t c = 0; c < columns_; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const double b = norms_of_b_[i];
    if (!(b > 0)) continue;
    // || r || less the norm of what is orthogonal to the space, without cancellation.
    const double part = std::min(norms_of_rotated_[i], 1.0),
                 avoidable = part * part / (1 + std::sqrt(1 - part * part));
    if (std::isnan(norms_of_rotated_[i])) return norms_of_rotated_[i];
    worst = worse(worst, avoidable * (norm_of_residual(c) / b) +
                             rounding * (1 + norm_of_a() * (norms_of_x_[i] / b)));
  }
  return worst;
}

template <class T>
double LeastSquaresError<T>::size_beside_residual() const {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t c = 0; c < columns_; ++c)
    if (const double r = norm_of_residual(c); r > 0)
      least = std::min(least, norm_of_a() * norms_of_x_[static_cast<std::size_t>(c)] / r);
  return least;
}

template class LeastSquaresError<float>;
template class LeastSquaresError<double>;

}  // namespace fairlead::linalg
