// The product of the diagonal of the triangular factor; its sign changes with each exchange of rows, and with each
// reflection of a real Q. The phase is the product of the phases of the elements.
#include "solver/log_determinant.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/scalar.hpp"

namespace fairlead::solver {

namespace {

/// The share of one datum.
template <class T>
struct DeterminantShare {
  double log_absolute = 0;
  WideOf<T> phase = 1;  // of a real matrix the sign
};

/// The phase of a product. Its absolute value stays 1, or is 0.
template <class Phase>
Phase product_of_phases(Phase a, Phase b) {
  const Phase product = a * b;
  const double size = magnitude(product);
  return size == 0 ? Phase(0) : product / size;
}

template <class T>
DeterminantShare<T> share_of_diagonal(const In<Tile<T>>& tile) {
  DeterminantShare<T> share;
  for (int i = 0; i < tile.columns(); ++i) {
    const auto pivot = scalar_cast<WideOf<T>>(tile(i, i));
    const double size = magnitude(pivot);
    share.log_absolute += std::log(size);
    share.phase = product_of_phases(share.phase, size > 0 ? pivot / size : WideOf<T>(0));
  }
  return share;
}

/// Each exchange of two different rows changes the sign. `first`: of the rows of the panel in the first element; blocks
/// of `block` elements count from their own first row.
template <class T>
DeterminantShare<T> share_of_exchanges(const In<Vector<std::int32_t>>& exchanges, std::int64_t first,
                                       std::int64_t block) {
  DeterminantShare<T> share;
  for (std::int64_t i = 0; i < exchanges.size(); ++i)
    if (exchanges(i) != first + i % block + 1) share.phase = -share.phase;
  return share;
}

/// The determinant of I - tau v v^H is -tau / conj(tau), since it is unitary: -1 of a real reflection. A reflector whose
/// factor tau is zero is the identity. The factors are the diagonals of the triangles, of which each has as many columns
/// as the tile has rows.
template <class T>
DeterminantShare<T> share_of_reflections(const In<Tile<T>>& triangles) {
  DeterminantShare<T> share;
  for (int j = 0; j < triangles.columns(); ++j)
    if (const auto tau = scalar_cast<WideOf<T>>(triangles(j % triangles.rows(), j)); tau != WideOf<T>(0))
      share.phase = product_of_phases(share.phase, -tau / conjugate(tau));
  return share;
}

}  // namespace

template <class T>
linalg::LogDeterminant log_determinant(Execution& run, const KeptFactors<T>& kept) {
  const TiledMatrix<T>& a = *kept.a;
  if (a.rows() != a.columns()) throw UsageError("only a square matrix has a determinant");
  const DenseOperation& method = *kept.problem.operation;
  if (const auto own = kept.factors->log_determinant(run.flow())) return *own;
  const std::int64_t tile = a.tile(), block = kept.factors->inner_block();
  std::vector<DeterminantShare<T>> shares;
  std::size_t data = static_cast<std::size_t>(a.tile_columns());
  kept.factors->visit_data({.tile = [&](auto...) { ++data; }, .exchanges = [&](auto...) { ++data; }});
  shares.resize(data);  // each task writes its own
  run.begin("determinant", data);
  const auto diagonal = codelet("determinant").cpu([&shares](In<Tile<T>> t, std::size_t place) {
    shares[place] = share_of_diagonal<T>(t);
  });
  const auto exchanges = codelet("determinant")
                             .cpu([&shares](In<Vector<std::int32_t>> rows, std::int64_t first,
                                            std::int64_t in_block, std::size_t place) {
                               shares[place] = share_of_exchanges<T>(rows, first, in_block);
                             });
  const auto reflections = codelet("determinant").cpu([&shares](In<Tile<T>> t, std::size_t place) {
    shares[place] = share_of_reflections<T>(t);
  });
  std::size_t place = 0;
  for (std::int32_t k = 0; k < a.tile_columns(); ++k) run.flow().submit(diagonal(a(k, k), place++));
  kept.factors->visit_data(
      {.tile =
           [&](FactorPart part, std::int32_t, std::int32_t, const Handle<Tile<T>>& datum) {
             if (part == FactorPart::triangular_factors || part == FactorPart::joined_factors)
               run.flow().submit(reflections(datum, place++));
           },
       .exchanges =
           [&](FactorPart part, std::int32_t i, std::int32_t k, const Handle<Vector<std::int32_t>>& datum) {
             const bool of_panel = part == FactorPart::row_exchanges;
             // A diagonal tile is factored at once, a pair in blocks of columns.
             const std::int64_t in_block = of_panel || i == k ? tile : block;
             run.flow().submit(exchanges(datum, of_panel ? std::int64_t{k} * tile : 0, in_block, place++));
           }});
  run.end_uncounted();
  DeterminantShare<T> all;
  for (const DeterminantShare<T>& share : shares) {
    all.log_absolute += share.log_absolute;
    all.phase = product_of_phases(all.phase, share.phase);
  }
  // A = L L^H: the determinant is the square of that of L, whose diagonal is real.
  if (method.solve->symmetric) all.log_absolute *= 2;
  // The tiles have the adjoint of an upper triangular matrix.
  if (method.solve->triangle == linalg::Stored::upper) all.phase = conjugate(all.phase);
  const int sign =
      is_complex_number<T> ? (all.phase == WideOf<T>(0) ? 0 : 1) : static_cast<int>(real_part(all.phase));
  return {.sign = sign, .log_absolute = all.log_absolute, .phase = all.phase};
}

template linalg::LogDeterminant log_determinant<float>(Execution&, const KeptFactors<float>&);
template linalg::LogDeterminant log_determinant<double>(Execution&, const KeptFactors<double>&);
template linalg::LogDeterminant log_determinant<std::complex<float>>(Execution&,
                                                                     const KeptFactors<std::complex<float>>&);
template linalg::LogDeterminant log_determinant<std::complex<double>>(
    Execution&, const KeptFactors<std::complex<double>>&);

}  // namespace fairlead::solver
