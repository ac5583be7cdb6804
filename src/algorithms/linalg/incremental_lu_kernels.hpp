// The codelets of an LU factorization with incremental pivoting.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/incremental_lu.hpp>
#include <fairlead/scratch.hpp>

#include <complex>
#include <cstdint>

namespace fairlead::linalg {

/// The factorizations of one tile or two. Both produce a triangle of U. Their last parameters are its first column in
/// the matrix, and whether it is complete: no later tile provides pivots.
template <class T>
struct PairwisePanelKernels {
  using Tile = fairlead::Tile<T>;
  using Exchanges = Vector<std::int32_t>;

  explicit PairwisePanelKernels(const Kernels& kernels);

  /// A := U on and above the diagonal; L and the exchanges of rows.
  Codelet<InOut<Tile>, Out<Tile>, Out<Exchanges>, std::int64_t, bool> getrf;
  /// U := the U of U on top of A, A := the L below it; L within the blocks, and the exchanges. Scratch: a block of
  /// columns of both.
  Codelet<InOut<Tile>, InOut<Tile>, Out<Tile>, Out<Exchanges>, Scratch<T>, std::int64_t, bool> tstrf;
};

enum class Elimination : std::uint8_t { plain, transposed };

/// Applies the eliminations to other tiles; or their transposes, with conjugate elements, for a solve with A^H, from the
/// last to the first.
template <class T>
struct PairwiseUpdateKernels {
  using Tile = fairlead::Tile<T>;
  using Exchanges = Vector<std::int32_t>;

  explicit PairwiseUpdateKernels(const Kernels& kernels, Elimination which = Elimination::plain);

  /// C := L^-1 P C, for L and P from getrf.
  Codelet<In<Tile>, In<Exchanges>, InOut<Tile>> gessm;
  /// C1 on top of C2 := the elimination of tstrf, for its A, L and exchanges.
  Codelet<In<Tile>, In<Tile>, In<Exchanges>, InOut<Tile>, InOut<Tile>> ssssm;
};

#define FAIRLEAD_PAIRWISE_KERNELS_OF(T)           \
  extern template struct PairwisePanelKernels<T>; \
  extern template struct PairwiseUpdateKernels<T>;
FAIRLEAD_PAIRWISE_KERNELS_OF(float)
FAIRLEAD_PAIRWISE_KERNELS_OF(double)
FAIRLEAD_PAIRWISE_KERNELS_OF(std::complex<float>)
FAIRLEAD_PAIRWISE_KERNELS_OF(std::complex<double>)
#undef FAIRLEAD_PAIRWISE_KERNELS_OF

}  // namespace fairlead::linalg
