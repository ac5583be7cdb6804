// The codelets of tiled linear algebra, grouped by algorithm; each calls BLAS or LAPACK on whole tiles. A^H is the
// transposed matrix with conjugate elements; for real matrices this is A^T. Complex tiles have no bodies for devices.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/linalg.hpp>

#include <complex>
#include <cstdint>

namespace fairlead::linalg {

template <class T>
struct CholeskyKernels {
  using Tile = fairlead::Tile<T>;

  explicit CholeskyKernels(const Kernels& kernels);

  /// A := L with A = L L^H. The last parameter is the first column of the tile in the matrix.
  Codelet<InOut<Tile>, std::int64_t> potrf;
  /// A := A L^-H.
  Codelet<In<Tile>, InOut<Tile>> trsm;
  /// C := C - A A^H, the lower triangle.
  Codelet<In<Tile>, InOut<Tile>> syrk;
  /// C := C - A B^H.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> gemm;
};

template <class T>
struct LuKernels {
  using Tile = fairlead::Tile<T>;

  explicit LuKernels(const Kernels& kernels);

  /// A := L and U with A = L U. The last parameter is the first column of the tile in the matrix.
  Codelet<InOut<Tile>, std::int64_t> getrf;
  /// A := A U^-1: a tile of L, below the diagonal.
  Codelet<In<Tile>, InOut<Tile>> trsm_below;
  /// A := L^-1 A: a tile of U, right of the diagonal.
  Codelet<In<Tile>, InOut<Tile>> trsm_right;
  /// C := C - A B.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> gemm;
};

/// C has the shape of A B, or is larger: then the rest of its elements is not accessed.
template <class T>
struct ProductKernels {
  using Tile = fairlead::Tile<T>;

  ProductKernels(const Kernels& kernels, T alpha, T beta);

  /// C := alpha A B.
  Codelet<In<Tile>, In<Tile>, Out<Tile>> set;
  /// C := alpha A B + beta C.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> scale_and_add;
  /// C := alpha A B + C.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> add;
};

/// The product with L of a Cholesky factorization; off the diagonal it is ProductKernels::add.
template <class T>
struct LowerProductKernels {
  using Tile = fairlead::Tile<T>;

  explicit LowerProductKernels(const Kernels& kernels);

  /// X := L X, with the tile on the diagonal.
  Codelet<In<Tile>, InOut<Tile>> multiply_lower;
};

/// The factorization that a solve follows.
enum class Factors : std::uint8_t { cholesky, lu };

/// The solves with L Y = X and then R X = Y, where R is L^H or U.
template <class T>
struct SolveKernels {
  using Tile = fairlead::Tile<T>;

  SolveKernels(const Kernels& kernels, Factors factors);

  /// X := L^-1 X, with the tile on the diagonal.
  Codelet<In<Tile>, InOut<Tile>> solve_lower;
  /// X := R^-1 X.
  Codelet<In<Tile>, InOut<Tile>> solve_upper;
  /// Y := Y - A X, with a tile A of L.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> update_lower;
  /// Y := Y - op(A) X, with the tile A of L whose transpose is a tile of R, or a tile A of U.
  Codelet<In<Tile>, In<Tile>, InOut<Tile>> update_upper;
};

#define FAIRLEAD_KERNELS_OF(T)                   \
  extern template struct CholeskyKernels<T>;     \
  extern template struct LuKernels<T>;           \
  extern template struct ProductKernels<T>;      \
  extern template struct LowerProductKernels<T>; \
  extern template struct SolveKernels<T>;
FAIRLEAD_KERNELS_OF(float)
FAIRLEAD_KERNELS_OF(double)
FAIRLEAD_KERNELS_OF(std::complex<float>)
FAIRLEAD_KERNELS_OF(std::complex<double>)
#undef FAIRLEAD_KERNELS_OF

}  // namespace fairlead::linalg
