// The tasks of a tiled QR factorization as codelets: LAPACK's on whole tiles. V are reflectors, T their
// triangular factors, of as many rows as an inner block has reflectors.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/cuda.hpp>
#include <fairlead/qr.hpp>
#include <fairlead/scratch.hpp>

#include <cstdint>

namespace fairlead::linalg {

/// What makes a triangle, or one of two.
template <class T>
struct QrPanelKernels {
  using Tile = fairlead::Tile<T>;
  using Triangle = Codelet<InOut<Tile>, Out<Tile>, Out<Tile>, Scratch<T>>;
  using Join = Codelet<InOut<Tile>, InOut<Tile>, Out<Tile>, Scratch<T>>;

  explicit QrPanelKernels(const Kernels& kernels);

  /// A := R on and above the diagonal, and V, T.
  Triangle geqrt;
  /// R := that of R on top of A, A := V, and T.
  Join tsqrt;
  /// The same where A is a triangle, too: what is below its diagonal is not touched.
  Join ttqrt;
};

/// What applies the reflectors to other tiles: Q^T, or Q.
template <class T>
struct QrUpdateKernels {
  using Tile = fairlead::Tile<T>;
  using OfTriangle = Codelet<In<Tile>, In<Tile>, InOut<Tile>, Scratch<T>>;
  using OfJoin = Codelet<In<Tile>, In<Tile>, InOut<Tile>, InOut<Tile>, Scratch<T>>;

  QrUpdateKernels(const Kernels& kernels, ApplyQ which);

  /// C := op(Q) C, for V and T of geqrt.
  OfTriangle unmqr;
  /// B on top of C := op(Q) of both, for V and T of tsqrt.
  OfJoin tsmqr;
  /// The same of ttqrt.
  OfJoin ttmqr;
};

extern template struct QrPanelKernels<float>;
extern template struct QrPanelKernels<double>;
extern template struct QrUpdateKernels<float>;
extern template struct QrUpdateKernels<double>;

}  // namespace fairlead::linalg
