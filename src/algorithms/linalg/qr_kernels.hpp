// The codelets of a tiled QR factorization: LAPACK's routines on whole tiles. V are the reflectors, T their triangular
// factors, with as many rows as an inner block has reflectors.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/cuda.hpp>
#include <fairlead/qr.hpp>
#include <fairlead/scratch.hpp>

#include <cstdint>

namespace fairlead::linalg {

/// Reduces a tile, or two, to a triangle.
template <class T>
struct QrPanelKernels {
  using Tile = fairlead::Tile<T>;
  using Triangle = Codelet<InOut<Tile>, Out<Tile>, Out<Tile>, Scratch<T>>;
  using Join = Codelet<InOut<Tile>, InOut<Tile>, Out<Tile>, Scratch<T>>;

  explicit QrPanelKernels(const Kernels& kernels);

  /// A := R on and above the diagonal; V and T.
  Triangle geqrt;
  /// R := the R of R on top of A, A := V; T.
  Join tsqrt;
  /// The same for a triangular A; elements below its diagonal are not accessed.
  Join ttqrt;
};

/// Applies Q^T or Q to other tiles.
template <class T>
struct QrUpdateKernels {
  using Tile = fairlead::Tile<T>;
  using OfTriangle = Codelet<In<Tile>, In<Tile>, InOut<Tile>, Scratch<T>>;
  using OfJoin = Codelet<In<Tile>, In<Tile>, InOut<Tile>, InOut<Tile>, Scratch<T>>;

  QrUpdateKernels(const Kernels& kernels, ApplyQ which);

  /// C := op(Q) C, for V and T from geqrt.
  OfTriangle unmqr;
  /// B on top of C := op(Q) of both, for V and T from tsqrt.
  OfJoin tsmqr;
  /// The same for V and T from ttqrt.
  OfJoin ttmqr;
};

extern template struct QrPanelKernels<float>;
extern template struct QrPanelKernels<double>;
extern template struct QrUpdateKernels<float>;
extern template struct QrUpdateKernels<double>;

}  // namespace fairlead::linalg
