// The determinant and the inertia of a symmetric or Hermitian matrix, from its factors L T L^T.
#include <fairlead/error.hpp>
#include <fairlead/ldlt.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

namespace {

/// A symmetric band matrix as LAPACK stores it: column by column, from the diagonal down.
template <class T>
struct SymmetricBand {
  std::int64_t n, width;
  std::vector<T> elements;

  SymmetricBand(std::int64_t order, std::int64_t half_width)
      : n(order),
        width(std::min(half_width, order - 1)),
        elements(static_cast<std::size_t>(n * (width + 1))) {}
  T& operator()(std::int64_t i, std::int64_t j) {
    return elements[static_cast<std::size_t>(j * (width + 1) + i - j)];
  }
};

/// T, from the tiles on the diagonal and the triangles below them.
template <class T>
SymmetricBand<T> band_of(Flow& flow, const TiledMatrix<T>& a) {
  SymmetricBand<T> band(a.rows(), a.tile());
  for (std::int32_t k = 0; k < a.tile_rows(); ++k) {
    const std::int64_t first = static_cast<std::int64_t>(k) * a.tile();
    {
      const auto hold = flow.acquire(read(a(k, k)));
      const auto tile = hold.template get<0>();
      for (std::int32_t j = 0; j < tile.columns(); ++j)
        for (std::int32_t i = j; i < tile.rows(); ++i) band(first + i, first + j) = tile(i, j);
    }
    if (k + 1 == a.tile_rows()) break;
    const auto hold = flow.acquire(read(a(k + 1, k)));
    const auto tile = hold.template get<0>();
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      for (std::int32_t i = 0; i <= std::min(j, tile.rows() - 1); ++i)
        band(first + a.tile() + i, first + j) = tile(i, j);
  }
  return band;
}

/// The number of eigenvalues below x of the symmetric tridiagonal matrix, which is scaled to norm 1: that of negative
/// pivots of its factorization L D L^T (Barth, Martin, Wilkinson 1967, "Calculation of the eigenvalues of a symmetric
/// tridiagonal matrix by the method of bisection").
std::int64_t eigenvalues_below(double x, const std::vector<double>& d, const std::vector<double>& e) {
  constexpr double least = std::numeric_limits<double>::min();
  std::int64_t count = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < d.size(); ++i) {
    pivot = d[i] - x - (i == 0 ? 0 : e[i - 1] * e[i - 1] / pivot);
    if (std::abs(pivot) < least) pivot = -least;
    if (pivot < 0) ++count;
  }
  return count;
}

}  // namespace

template <class T>
LogDeterminant ldlt_determinant(Flow& flow, const SymmetricPivots<T>& p, const TiledMatrix<T>& a) {
  p.require_shape_of(a);
  wait_for_results(flow);
  LogDeterminant determinant;
  WideOf<T> phase = 1;
  for (std::int32_t k = 0; k < a.tile_rows(); ++k) {
    const auto hold = flow.acquire(read(p.band_diagonal(k)), read(p.band_exchanges(k)));
    const auto u = hold.template get<0>();
    const auto exchanges = hold.template get<1>();
    for (std::int32_t i = 0; i < u.rows(); ++i) {
      const bool exchanged = exchanges(i) != static_cast<std::int64_t>(k) * a.tile() + i + 1;
      const auto pivot = scalar_cast<WideOf<T>>(u(i, i));
      const double size = magnitude(pivot);
      if (size > 0) phase *= (exchanged ? -1.0 : 1.0) * (pivot / size);
      phase /= magnitude(phase);
      determinant.log_absolute += std::log(size);
    }
  }
  // That of a Hermitian matrix is real, and so is U' up to rounding.
  if (is_complex_number<T> && p.symmetry() == Symmetry::hermitian) phase = real_part(phase) < 0 ? -1 : 1;
  if (!is_complex_number<T>) determinant.sign = real_part(phase) < 0 ? -1 : 1;
  determinant.phase = phase;
  return determinant;
}

template <class T>
Inertia ldlt_inertia(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a) {
  wait_for_results(flow);
  SymmetricBand<T> band = band_of<T>(flow, a);
  const auto n = static_cast<std::size_t>(a.rows());
  std::vector<RealOf<T>> diagonal(n), below(n);
  std::vector<T> work(n);
  kernels.blas().sbtrd<T>(static_cast<int>(n), static_cast<int>(band.width), band.elements.data(),
                          static_cast<int>(band.width + 1), diagonal.data(), below.data(), work.data());
  std::vector<double> d(diagonal.begin(), diagonal.end()), e(below.begin(), below.end() - 1);
  double norm = 0;
  for (std::size_t i = 0; i < n; ++i)
    norm = std::max(norm,
                    std::abs(d[i]) + (i > 0 ? std::abs(e[i - 1]) : 0) + (i < e.size() ? std::abs(e[i]) : 0));
  if (norm == 0) return {.zero = a.rows()};
  for (double& one : d) one /= norm;
  for (double& one : e) one /= norm;
  const double zero = static_cast<double>(n) * epsilon_of_scalar<T>;
  const std::int64_t negative = eigenvalues_below(-zero, d, e), not_positive = eigenvalues_below(zero, d, e);
  return {.positive = a.rows() - not_positive, .negative = negative, .zero = not_positive - negative};
}

#define FAIRLEAD_LDLT_INVARIANTS_OF(T)                                                                  \
  template LogDeterminant ldlt_determinant<T>(Flow&, const SymmetricPivots<T>&, const TiledMatrix<T>&); \
  template Inertia ldlt_inertia<T>(Flow&, const Kernels&, const TiledMatrix<T>&);
FAIRLEAD_LDLT_INVARIANTS_OF(float)
FAIRLEAD_LDLT_INVARIANTS_OF(double)
FAIRLEAD_LDLT_INVARIANTS_OF(std::complex<float>)
FAIRLEAD_LDLT_INVARIANTS_OF(std::complex<double>)
#undef FAIRLEAD_LDLT_INVARIANTS_OF

}  // namespace fairlead::linalg
