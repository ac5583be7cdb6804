// The codelets of a tiled QR factorization: LAPACK's routines on whole tiles. V are the reflectors, T their triangular
// factors, with as many rows as an inner block has reflectors. Q^H is the transposed matrix with conjugate elements, for
// real matrices Q^T. Complex tiles have no bodies for devices.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/cuda.hpp>
#include <fairlead/qr.hpp>
#include <fairlead/scratch.hpp>

#include <complex>
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

/// Applies Q^H or Q to other tiles.
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

#define FAIRLEAD_QR_KERNELS_OF(T)           \
  extern template struct QrPanelKernels<T>; \
  extern template struct QrUpdateKernels<T>;
FAIRLEAD_QR_KERNELS_OF(float)
FAIRLEAD_QR_KERNELS_OF(double)
FAIRLEAD_QR_KERNELS_OF(std::complex<float>)
FAIRLEAD_QR_KERNELS_OF(std::complex<double>)
#undef FAIRLEAD_QR_KERNELS_OF

}  // namespace fairlead::linalg
