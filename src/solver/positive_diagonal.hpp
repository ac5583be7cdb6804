// A check of the diagonal before a Cholesky factorization: a symmetric or Hermitian matrix with an element that is
// not positive there is not positive definite.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/scalar.hpp"
#include "solver/execution.hpp"

namespace fairlead::solver {

template <class T>
std::string not_positive_text(std::int64_t place, T element) {
  return fmt::format(
      "the matrix is not positive definite: the element in row and column {} (counted from 0) is {}", place,
      number_text(element));
}

/// A phase of its own, before the factorization. Throws NumericalError that names the element.
template <class T>
void require_positive_diagonal(Execution& run, const TiledMatrix<T>& a) {
  const auto check = codelet("diagonal").cpu([](In<Tile<T>> tile, std::int64_t first) {
    for (int i = 0; i < tile.columns(); ++i)
      if (!(real_part(tile(i, i)) > 0)) throw NumericalError(not_positive_text(first + i, tile(i, i)));
  });
  run.begin("diagonal", static_cast<std::uint64_t>(a.tile_columns()));
  for (std::int32_t k = 0; k < a.tile_columns(); ++k)
    run.flow().submit(check(a(k, k), std::int64_t{k} * a.tile()));
  run.end_uncounted();
}

}  // namespace fairlead::solver
