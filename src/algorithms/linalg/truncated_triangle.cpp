// The memory block: the reduced matrix, its bidiagonal and reflectors, right-hand sides, workspace of LAPACK.
#include "algorithms/linalg/truncated_triangle.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

namespace {

constexpr std::int64_t reflector_block = 32;        // reflectors that LAPACK applies at once
constexpr std::int64_t factors_of_block = 65 * 64;  // elements that xORMQR uses for their factors
// vectors of n elements: d, e, the factors of both kinds of reflectors; copies of d and e
constexpr std::int64_t vectors_kept = 6;

std::int64_t lapack_workspace(std::int64_t n) noexcept {
  return std::max({Blas::lalsd_work(n, TruncatedTriangle::most_sides), 2 * n * reflector_block,
                   TruncatedTriangle::most_sides * reflector_block + factors_of_block});
}
/// The integer workspace of LAPACK, in doubles.
std::int64_t lapack_integers(std::int64_t n) noexcept { return (Blas::lalsd_integers(n) + 1) / 2; }

/// Computed without overflow.
double euclidean_norm(const double* vector, std::int64_t count) noexcept {
  double norm = 0;
  for (std::int64_t i = 0; i < count; ++i) norm = std::hypot(norm, vector[i]);
  return norm;
}

}  // namespace

struct TruncatedTriangle::Workspace {
  double *matrix, *diagonal, *off_diagonal, *factors_q, *factors_p, *spent_diagonal, *spent_off_diagonal,
      *sides, *work;
  std::int32_t* integers;
};

TruncatedTriangle::TruncatedTriangle(Kernels kernels, std::int64_t n, double tolerance)
    : kernels_(std::move(kernels)),
      n_(n),
      // LAPACK replaces 0 by half a rounding.
      tolerance_(std::max(tolerance, std::numeric_limits<double>::min())) {}

std::int64_t TruncatedTriangle::columns_needed(std::int64_t n) noexcept {
  return n + vectors_kept + most_sides + (lapack_workspace(n) + lapack_integers(n) + n - 1) / n;
}

double TruncatedTriangle::flops(std::int64_t n) noexcept {
  const auto side = static_cast<double>(n);
  return 8.0 / 3 * side * side * side;
}

TruncatedTriangle::Workspace TruncatedTriangle::places(double* memory) const noexcept {
  double* const kept = memory + n_ * n_;
  const auto vector = [&](std::int64_t index) { return kept + index * n_; };
  double* const work = vector(vectors_kept + most_sides);
  return {.matrix = memory,
          .diagonal = vector(0),
          .off_diagonal = vector(1),
          .factors_q = vector(2),
          .factors_p = vector(3),
          .spent_diagonal = vector(4),
          .spent_off_diagonal = vector(5),
          .sides = vector(vectors_kept),
          .work = work,
          .integers = reinterpret_cast<std::int32_t*>(work + lapack_workspace(n_))};
}

double* TruncatedTriangle::sides(double* memory) const noexcept { return places(memory).sides; }

/// Solves with B or B^T; the sides become the solutions, the copy of the diagonal the singular values. Returns the
/// rank.
int TruncatedTriangle::truncated_solve(const Workspace& at, bool transposed, std::int32_t count) const {
  std::copy_n(at.diagonal, n_, at.spent_diagonal);
  std::copy_n(at.off_diagonal, n_ - 1, at.spent_off_diagonal);
  const auto n = static_cast<int>(n_);
  const auto rank = kernels_.blas().lalsd<double>(transposed ? Triangle::lower : Triangle::upper, n, count,
                                                  at.spent_diagonal, at.spent_off_diagonal, at.sides, n,
                                                  tolerance_, at.work, at.integers);
  if (!rank)
    throw NumericalError("the singular values of R cannot be computed: the iteration does not converge");
  return *rank;
}

Spectrum TruncatedTriangle::reduce(double* memory) const {
  const Workspace at = places(memory);
  const auto n = static_cast<int>(n_);
  kernels_.blas().gebrd<double>(n, at.matrix, n, at.diagonal, at.off_diagonal, at.factors_q, at.factors_p,
                                at.work, static_cast<int>(2 * n_ * reflector_block));
  std::fill_n(at.sides, n_, 0.0);
  Spectrum found{.rank = truncated_solve(at, false, 1)};
  const double* const values = at.spent_diagonal;
  found.largest = *std::max_element(values, values + n_);
  if (found.rank > 0) found.smallest_kept = values[found.rank - 1];
  if (found.rank < n_) found.largest_dropped = values[found.rank];
  return found;
}

void TruncatedTriangle::solve(double* memory, std::int32_t count) const {
  const Workspace at = places(memory);
  const auto n = static_cast<int>(n_), size = static_cast<int>(lapack_workspace(n_));
  const Blas& blas = kernels_.blas();
  blas.ormbr<double>(Blas::Reduced::q, Transpose::yes, n, count, at.matrix, n, at.factors_q, at.sides, n,
                     at.work, size);
  truncated_solve(at, false, count);
  blas.ormbr<double>(Blas::Reduced::p, Transpose::no, n, count, at.matrix, n, at.factors_p, at.sides, n,
                     at.work, size);
}

/// The projection is B times the truncated solution with B; for right singular vectors, B^T times that with B^T.
void TruncatedTriangle::project(double* memory, std::span<double> norms, Space space) const {
  const Workspace at = places(memory);
  const auto n = static_cast<int>(n_), size = static_cast<int>(lapack_workspace(n_)),
             count = static_cast<int>(norms.size());
  const bool rows = space == Space::rows;
  kernels_.blas().ormbr<double>(rows ? Blas::Reduced::p : Blas::Reduced::q, Transpose::yes, n, count,
                                at.matrix, n, rows ? at.factors_p : at.factors_q, at.sides, n, at.work, size);
  truncated_solve(at, rows, count);
  const double *const d = at.diagonal, *const e = at.off_diagonal;
  for (std::int32_t c = 0; c < count; ++c) {
    double* const z = at.sides + c * n_;
    if (rows)
      for (std::int64_t i = n_ - 1; i >= 0; --i) z[i] = d[i] * z[i] + (i > 0 ? e[i - 1] * z[i - 1] : 0);
    else
      for (std::int64_t i = 0; i < n_; ++i) z[i] = d[i] * z[i] + (i + 1 < n_ ? e[i] * z[i + 1] : 0);
    norms[static_cast<std::size_t>(c)] = euclidean_norm(z, n_);
  }
}

}  // namespace fairlead::linalg
