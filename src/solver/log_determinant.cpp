// The product of the diagonal of the triangular factor; its sign changes with each exchange of rows, and with each
// reflection of Q.
#include "solver/log_determinant.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::solver {

namespace {

/// The share of one datum.
struct DeterminantShare {
  double log_absolute = 0;
  int sign = 1;
};

template <class T>
DeterminantShare share_of_diagonal(const In<Tile<T>>& tile) {
  DeterminantShare share;
  for (int i = 0; i < tile.columns(); ++i) {
    const auto pivot = static_cast<double>(tile(i, i));
    share.log_absolute += std::log(std::abs(pivot));
    share.sign *= pivot > 0 ? 1 : pivot < 0 ? -1 : 0;
  }
  return share;
}

/// Each exchange of two different rows changes the sign. `first`: of the rows of the panel in the first element; blocks
/// of `block` elements count from their own first row.
DeterminantShare share_of_exchanges(const In<Vector<std::int32_t>>& exchanges, std::int64_t first,
                                    std::int64_t block) {
  DeterminantShare share;
  for (std::int64_t i = 0; i < exchanges.size(); ++i)
    if (exchanges(i) != first + i % block + 1) share.sign = -share.sign;
  return share;
}

/// The determinant of a reflection is -1; a reflector whose factor is zero is the identity. The factors are the diagonals
/// of the triangles, of which each has as many columns as the tile has rows.
template <class T>
DeterminantShare share_of_reflections(const In<Tile<T>>& triangles) {
  DeterminantShare share;
  for (int j = 0; j < triangles.columns(); ++j)
    if (triangles(j % triangles.rows(), j) != 0) share.sign = -share.sign;
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
  std::vector<DeterminantShare> shares;
  std::size_t data = static_cast<std::size_t>(a.tile_columns());
  kept.factors->visit_data({.tile = [&](auto...) { ++data; }, .exchanges = [&](auto...) { ++data; }});
  shares.resize(data);  // each task writes its own
  run.begin("determinant", data);
  const auto diagonal = codelet("determinant").cpu([&shares](In<Tile<T>> t, std::size_t place) {
    shares[place] = share_of_diagonal<T>(t);
  });
  const auto exchanges =
      codelet("determinant")
          .cpu([&shares](In<Vector<std::int32_t>> rows, std::int64_t first, std::int64_t in_block,
                         std::size_t place) { shares[place] = share_of_exchanges(rows, first, in_block); });
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
  linalg::LogDeterminant determinant{.sign = 1, .log_absolute = 0};
  for (const DeterminantShare& share : shares) {
    determinant.log_absolute += share.log_absolute;
    determinant.sign *= share.sign;
  }
  // A = L L^T: the determinant is the square of that of L.
  if (method.solve->symmetric) determinant.log_absolute *= 2;
  return determinant;
}

template linalg::LogDeterminant log_determinant<float>(Execution&, const KeptFactors<float>&);
template linalg::LogDeterminant log_determinant<double>(Execution&, const KeptFactors<double>&);

}  // namespace fairlead::solver
