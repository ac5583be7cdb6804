// Checks of the shapes of matrices, shared by flows and parameterized graphs.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace fairlead::linalg {

/// Throws UsageError if the matrix or its tiles are not square; `what` names the operation: "an LU factorization".
template <class T>
void require_square(const TiledMatrix<T>& a, const char* what) {
  if (a.rows() != a.columns())
    throw UsageError(
        fmt::format("{} needs a square matrix; this one is {} x {}", what, a.rows(), a.columns()));
  static_cast<void>(a.tile());  // throws if the tiles are not square
}

/// Throws UsageError if C does not have the shape of A B, or the sides of their tiles differ.
template <class T>
void require_product(const TiledMatrix<T>& a, const TiledMatrix<T>& b, const TiledMatrix<T>& c) {
  if (a.rows() != c.rows() || b.columns() != c.columns() || a.columns() != b.rows())
    throw UsageError(fmt::format("a product of {} x {} and {} x {} does not make a matrix of {} x {}",
                                 a.rows(), a.columns(), b.rows(), b.columns(), c.rows(), c.columns()));
  if (a.tile() != c.tile() || b.tile() != c.tile())
    throw UsageError(
        fmt::format("matrices with tiles of {}, {} and {} cannot be multiplied: all must have "
                    "the same",
                    a.tile(), b.tile(), c.tile()));
}

/// Throws UsageError if the matrix is not square, or the rows or tiles of the right-hand sides do not match.
template <class T>
void require_system(const TiledMatrix<T>& a, const TiledMatrix<T>& b) {
  if (a.rows() != a.columns() || b.rows() != a.rows())
    throw UsageError(fmt::format("a matrix of {} x {} and right-hand sides of {} x {} do not match", a.rows(),
                                 a.columns(), b.rows(), b.columns()));
  if (a.tile() != b.tile_size().rows)
    throw UsageError(
        fmt::format("the matrix has tiles of {} and the right-hand sides of {}: they must be the same",
                    a.tile(), b.tile_size().rows));
}

/// Places a task in distributed runs. With one column of tiles of right-hand sides, it runs on the owner of the matrix
/// tile, so the smaller data move. With several columns, it runs where its tile of right-hand sides is, and tiles of
/// the matrix move.
template <class Call, class T, class U>
Call&& on_owner_of(Call&& call, const TiledMatrix<T>& a, std::int32_t row, std::int32_t column,
                   const TiledMatrix<U>& b) {
  const Distribution* const owners = a.distribution();
  if (owners == nullptr || b.tile_columns() > 1) return std::move(call);
  return std::move(call).on_rank(owners->owner(row, column));
}

/// Throws UsageError if Q of matrix A cannot be applied to B.
template <class T>
void require_q_applicable(const TiledMatrix<T>& a, const TiledMatrix<T>& b) {
  if (b.rows() != a.rows() || b.tile_size().rows != a.tile())
    throw UsageError(
        fmt::format("Q of a matrix of {} x {} in tiles of {} cannot be applied to {} x {} in tiles of {}",
                    a.rows(), a.columns(), a.tile(), b.rows(), b.columns(), b.tile_size().rows));
}

}  // namespace fairlead::linalg
