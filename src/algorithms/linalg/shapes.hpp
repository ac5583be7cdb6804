// Which matrices go together: what flows and parameterized graphs ask for alike.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace fairlead::linalg {

/// Throws UsageError if the matrix or its tiles are not square; `what`: "an LU factorization".
template <class T>
void require_square(const TiledMatrix<T>& a, const char* what) {
  if (a.rows() != a.columns())
    throw UsageError(
        fmt::format("{} needs a square matrix; this one is {} x {}", what, a.rows(), a.columns()));
  static_cast<void>(a.tile());  // throws if tiles are not
}

/// Throws UsageError if C is not of the shape of A B, or their tiles have different sides.
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

/// Throws UsageError if the matrix is not square, or the right-hand sides are not of its height and tiles.
template <class T>
void require_system(const TiledMatrix<T>& a, const TiledMatrix<T>& b) {
  if (a.rows() != a.columns() || b.rows() != a.rows())
    throw UsageError(fmt::format("a matrix of {} x {} and right-hand sides of {} x {} do not match", a.rows(),
                                 a.columns(), b.rows(), b.columns()));
  if (a.tile() != b.tile())
    throw UsageError(
        fmt::format("the matrix has tiles of {} and the right-hand sides of {}: they must be the same",
                    a.tile(), b.tile()));
}

/// Over ranks a task that has a tile of the matrix and tiles of one column of right-hand sides runs where the former is: so
/// it is the small ones that travel. Of several columns each is where it is, and the matrix's tiles come to all.
template <class Call, class T, class U>
Call&& near_matrix(Call&& call, const TiledMatrix<T>& a, std::int32_t row, std::int32_t column,
                   const TiledMatrix<U>& b) {
  const Distribution* const owners = a.distribution();
  if (owners == nullptr || b.tile_columns() > 1) return std::move(call);
  return std::move(call).on_rank(owners->owner(row, column));
}

/// Throws UsageError if Q of the matrix cannot be applied to this one.
template <class T>
void require_rotatable(const TiledMatrix<T>& a, const TiledMatrix<T>& b) {
  if (b.rows() != a.rows() || b.tile() != a.tile())
    throw UsageError(
        fmt::format("Q of a matrix of {} x {} in tiles of {} cannot be applied to {} x {} in tiles of {}",
                    a.rows(), a.columns(), a.tile(), b.rows(), b.columns(), b.tile()));
}

}  // namespace fairlead::linalg
