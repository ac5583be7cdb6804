// The memory block: the reduced matrix, its bidiagonal and reflectors, right-hand sides, workspace of LAPACK.
#include "algorithms/linalg/truncated_triangle.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/element_parts.hpp"

namespace fairlead::linalg {

namespace {

constexpr std::int64_t reflector_block = 32;        // reflectors that LAPACK applies at once
constexpr std::int64_t factors_of_block = 65 * 64;  // elements that xORMQR uses for their factors
// vectors of n elements: d, e, the factors of both kinds of reflectors; copies of d and e
constexpr std::int64_t vectors_kept = 6;

template <class W>
constexpr std::int64_t real_sides =
    TruncatedTriangle<W>::most_sides* parts_of_number<W>;  // right-hand sides of the bidiagonal

/// In elements.
template <class W>
std::int64_t lapack_workspace(std::int64_t n) noexcept {
  return std::max({Blas::lalsd_work(n, real_sides<W>), 2 * n * reflector_block,
                   TruncatedTriangle<W>::most_sides * reflector_block + factors_of_block});
}
/// The integer workspace of LAPACK, in elements.
std::int64_t lapack_integers(std::int64_t n) noexcept { return (Blas::lalsd_integers(n) + 1) / 2; }

/// Computed without overflow.
double euclidean_norm(const double* vector, std::int64_t count) noexcept {
  double norm = 0;
  for (std::int64_t i = 0; i < count; ++i) norm = std::hypot(norm, vector[i]);
  return norm;
}

}  // namespace

template <class W>
struct TruncatedTriangle<W>::Workspace {
  W* matrix;
  double *diagonal, *off_diagonal;
  W *factors_q, *factors_p;
  double *spent_diagonal, *spent_off_diagonal;
  W *sides, *work;
  std::int32_t* integers;
};

template <class W>
TruncatedTriangle<W>::TruncatedTriangle(Kernels kernels, std::int64_t n, double tolerance)
    : kernels_(std::move(kernels)),
      n_(n),
      // LAPACK replaces 0 by half a rounding.
      tolerance_(std::max(tolerance, std::numeric_limits<double>::min())) {}

template <class W>
std::int64_t TruncatedTriangle<W>::columns_needed(std::int64_t n) noexcept {
  return n + vectors_kept + most_sides + (lapack_workspace<W>(n) + lapack_integers(n) + n - 1) / n;
}

template <class W>
double TruncatedTriangle<W>::flops(std::int64_t n) noexcept {
  const auto side = static_cast<double>(n);
  return real_flops<W> * 8.0 / 3 * side * side * side;
}

template <class W>
typename TruncatedTriangle<W>::Workspace TruncatedTriangle<W>::places(W* memory) const noexcept {
  W* const kept = memory + n_ * n_;
  const auto vector = [&](std::int64_t index) { return kept + index * n_; };
  W* const work = vector(vectors_kept + most_sides);
  return {.matrix = memory,
          .diagonal = parts_of(vector(0)),
          .off_diagonal = parts_of(vector(1)),
          .factors_q = vector(2),
          .factors_p = vector(3),
          .spent_diagonal = parts_of(vector(4)),
          .spent_off_diagonal = parts_of(vector(5)),
          .sides = vector(vectors_kept),
          .work = work,
          .integers = reinterpret_cast<std::int32_t*>(work + lapack_workspace<W>(n_))};
}

template <class W>
W* TruncatedTriangle<W>::sides(W* memory) const noexcept {
  return places(memory).sides;
}

/// Solves with B or B^T; the sides become the solutions, with their parts apart as in element_parts.hpp, and the copy of
/// the diagonal the singular values. Returns the rank.
template <class W>
int TruncatedTriangle<W>::truncated_solve(const Workspace& at, bool transposed, std::int32_t count) const {
  std::copy_n(at.diagonal, n_, at.spent_diagonal);
  std::copy_n(at.off_diagonal, n_ - 1, at.spent_off_diagonal);
  for (std::int32_t c = 0; c < count; ++c) split_parts<W>(parts_of(at.sides + c * n_), n_);
  const auto n = static_cast<int>(n_);
  const auto rank = kernels_.blas().lalsd<double>(
      transposed ? Triangle::lower : Triangle::upper, n, parts_of_number<W> * count, at.spent_diagonal,
      at.spent_off_diagonal, parts_of(at.sides), n, tolerance_, parts_of(at.work), at.integers);
  if (!rank)
    throw NumericalError("the singular values of R cannot be computed: the iteration does not converge");
  return *rank;
}

template <class W>
Spectrum TruncatedTriangle<W>::reduce(W* memory) const {
  const Workspace at = places(memory);
  const auto n = static_cast<int>(n_);
  kernels_.blas().gebrd<W>(n, at.matrix, n, at.diagonal, at.off_diagonal, at.factors_q, at.factors_p, at.work,
                           static_cast<int>(2 * n_ * reflector_block));
  std::fill_n(at.sides, n_, W(0));
  Spectrum found{.rank = truncated_solve(at, false, 1)};
  const double* const values = at.spent_diagonal;
  found.largest = *std::max_element(values, values + n_);
  if (found.rank > 0) found.smallest_kept = values[found.rank - 1];
  if (found.rank < n_) found.largest_dropped = values[found.rank];
  return found;
}

template <class W>
void TruncatedTriangle<W>::solve(W* memory, std::int32_t count, Form form) const {
  const Workspace at = places(memory);
  const auto n = static_cast<int>(n_), size = static_cast<int>(lapack_workspace<W>(n_));
  const bool transposed = form == Form::adjoint;  // (Q B P^H)^H = P B^T Q^H
  const auto apply = [&](bool q, Transpose op) {
    kernels_.blas().ormbr<W>(q ? Blas::Reduced::q : Blas::Reduced::p, op, n, count, at.matrix, n,
                             q ? at.factors_q : at.factors_p, at.sides, n, at.work, size);
  };
  apply(!transposed, adjoint<W>);
  truncated_solve(at, transposed, count);
  for (std::int32_t c = 0; c < count; ++c) join_parts<W>(parts_of(at.sides + c * n_), n_);
  apply(transposed, Transpose::no);
}

/// The projection is B times the truncated solution with B; for right singular vectors, B^T times that with B^T.
template <class W>
void TruncatedTriangle<W>::project(W* memory, std::span<double> norms, Space space) const {
  constexpr int parts = parts_of_number<W>;
  const Workspace at = places(memory);
  const auto n = static_cast<int>(n_), size = static_cast<int>(lapack_workspace<W>(n_)),
             count = static_cast<int>(norms.size());
  const bool rows = space == Space::rows;
  kernels_.blas().ormbr<W>(rows ? Blas::Reduced::p : Blas::Reduced::q, adjoint<W>, n, count, at.matrix, n,
                           rows ? at.factors_p : at.factors_q, at.sides, n, at.work, size);
  truncated_solve(at, rows, count);
  const double *const d = at.diagonal, *const e = at.off_diagonal;
  for (std::int32_t c = 0; c < parts * count; ++c) {
    double* const z = parts_of(at.sides) + c * n_;
    if (rows)
      for (std::int64_t i = n_ - 1; i >= 0; --i) z[i] = d[i] * z[i] + (i > 0 ? e[i - 1] * z[i - 1] : 0);
    else
      for (std::int64_t i = 0; i < n_; ++i) z[i] = d[i] * z[i] + (i + 1 < n_ ? e[i] * z[i + 1] : 0);
  }
  for (std::int32_t c = 0; c < count; ++c)
    norms[static_cast<std::size_t>(c)] = euclidean_norm(parts_of(at.sides + c * n_), parts * n_);
}

template class TruncatedTriangle<double>;
template class TruncatedTriangle<std::complex<double>>;

}  // namespace fairlead::linalg
