// The tasks of a tiled Cholesky factorization and of its solves, as codelets: each calls BLAS or LAPACK on
// whole tiles.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/linalg.hpp>

#include <cstdint>

namespace fairlead::linalg {

template <class T>
struct TileKernels {
  using Tile = fairlead::Tile<T>;

  explicit TileKernels(const Kernels& kernels);

  /// A := L with A = L L^T. The number is the column of the matrix with which the tile begins.
  Codelet<InOut<Tile>, std::int64_t> potrf;
  /// A := A L^-T.
  Codelet<In<Tile>, InOut<Tile>> trsm;
  /// C := C - A A^T, the lower triangle.
  Codelet<In<Tile>, InOut<Tile>> syrk;
  /// C := C - A B^T.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> gemm;

  /// X := L^-1 X.
  Codelet<In<Tile>, InOut<Tile>> solve_lower;
  /// X := L^-T X.
  Codelet<In<Tile>, InOut<Tile>> solve_upper;
  /// Y := Y - A X.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> update_lower;
  /// Y := Y - A^T X.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> update_upper;
};

extern template struct TileKernels<float>;
extern template struct TileKernels<double>;

}  // namespace fairlead::linalg
