// The codelets of a symmetric indefinite factorization P^T A P = L T L^T (fairlead/ldlt.hpp) on single tiles.
//
// Tile (k, k - 1) of the matrix has two triangles: the unit lower one is L[k, k], and the upper one, with the diagonal,
// is T[k, k - 1]; tile (i, k - 1) below it is L[i, k]. L[0, 0] is the identity matrix. T[k, k] is in tile (k, k). Below,
// M^T is M^H if the matrix is Hermitian.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/linalg.hpp>

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace fairlead::linalg {

template <class T>
struct LdltKernels {
  using Tile = fairlead::Tile<T>;

  LdltKernels(const Kernels& kernels, Symmetry symmetry);

  // H[k, j] = T[k, k - 1] L[j, k - 1]^T + T[k, k] L[j, k]^T + T[k + 1, k]^T L[j, k + 1]^T, term by term. Scratch: a tile.

  /// H := T L^T, for tiles T[k, k] and L[j, k]; and for the tile with L[j, j].
  Codelet<In<Tile>, In<Tile>, Out<Tile>> set_product, set_own_product;
  /// H := H + T L^T, for the tile with T[k, k - 1], and L[j, k - 1].
  Codelet<In<Tile>, In<Tile>, InOut<Tile>, Scratch<T>> add_product;
  /// H := H + T^T L^T, for the tile with T[k + 1, k], and L[j, k + 1].
  Codelet<In<Tile>, In<Tile>, InOut<Tile>, Scratch<T>> add_transposed_product;
  /// The same for a tile with both T[j, j - 1] and L[j, j].
  Codelet<In<Tile>, InOut<Tile>, Scratch<T>> add_own_transposed_product;

  /// The first tile on the diagonal is T[0, 0]: sets its upper triangle.
  Codelet<InOut<Tile>> mirror;
  /// A := T[j, j], from A = L[j, j] T[j, j] L[j, j]^T, for the tile with L[j, j].
  Codelet<In<Tile>, InOut<Tile>> set_diagonal;
  /// The same from A = L[j, j] T[j, j] L[j, j]^T + L[j, j] T[j, j - 1] L[j, j - 1]^T, for the tile with L[j, j] and
  /// T[j, j - 1], and L[j, j - 1].
  Codelet<In<Tile>, In<Tile>, InOut<Tile>, Scratch<T>> update_and_set_diagonal;
  /// The upper triangle of A, U, becomes T[j + 1, j] = U L[j, j]^-T, for the tile with L[j, j].
  Codelet<In<Tile>, InOut<Tile>, Scratch<T>> set_below;
};

/// The codelets that copy T for its band LU factorization. Each writes the largest absolute value of a tile to `sizes`,
/// at the place that is the last parameter.
template <class T>
struct BandCopyKernels {
  using Tile = fairlead::Tile<T>;

  BandCopyKernels(const std::shared_ptr<std::vector<double>>& sizes, Symmetry symmetry);

  /// C := T[k, k], and the upper triangle of A, T[k + 1, k].
  Codelet<In<Tile>, Out<Tile>, std::size_t> diagonal, below;
  /// C := T[k, k + 1], the transposed upper triangle of A.
  Codelet<In<Tile>, Out<Tile>> right;
  Codelet<Out<Tile>> zero;
  /// Only finds the largest value, in the upper triangle of the first tile and in the others.
  Codelet<Many<In<Tile>>, std::size_t> size_of_row;
};

#define FAIRLEAD_LDLT_KERNELS_OF(T)      \
  extern template struct LdltKernels<T>; \
  extern template struct BandCopyKernels<T>;
FAIRLEAD_LDLT_KERNELS_OF(float)
FAIRLEAD_LDLT_KERNELS_OF(double)
FAIRLEAD_LDLT_KERNELS_OF(std::complex<float>)
FAIRLEAD_LDLT_KERNELS_OF(std::complex<double>)
#undef FAIRLEAD_LDLT_KERNELS_OF

}  // namespace fairlead::linalg
