// The tasks of an LU factorization with incremental pivoting as codelets.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/incremental_lu.hpp>
#include <fairlead/scratch.hpp>

#include <cstdint>

namespace fairlead::linalg {

/// What factors a tile, or two. Both end with a triangle of U: the numbers are the column of the matrix with which
/// it begins, and whether it is complete: no other tile will offer pivots.
template <class T>
struct PairwisePanelKernels {
  using Tile = fairlead::Tile<T>;
  using Exchanges = Vector<std::int32_t>;

  explicit PairwisePanelKernels(const Kernels& kernels);

  /// A := U on and above the diagonal, and L, and its exchanges.
  Codelet<InOut<Tile>, Out<Tile>, Out<Exchanges>, std::int64_t, bool> getrf;
  /// U := that of U on top of A, A := the L below it; L within the blocks, and the exchanges. Scratch: a block
  /// of both.
  Codelet<InOut<Tile>, InOut<Tile>, Out<Tile>, Out<Exchanges>, Scratch<T>, std::int64_t, bool> tstrf;
};

enum class Elimination : std::uint8_t { plain, transposed };

/// What the two do to other tiles; or what is to be done for a solve with A^T, from the last to the first.
template <class T>
struct PairwiseUpdateKernels {
  using Tile = fairlead::Tile<T>;
  using Exchanges = Vector<std::int32_t>;

  explicit PairwiseUpdateKernels(const Kernels& kernels, Elimination which = Elimination::plain);

  /// C := L^-1 P C, for L and P of getrf.
  Codelet<In<Tile>, In<Exchanges>, InOut<Tile>> gessm;
  /// C1 on top of C2 := what tstrf did, for A and L and the exchanges that it left.
  Codelet<In<Tile>, In<Tile>, In<Exchanges>, InOut<Tile>, InOut<Tile>> ssssm;
};

extern template struct PairwisePanelKernels<float>;
extern template struct PairwisePanelKernels<double>;
extern template struct PairwiseUpdateKernels<float>;
extern template struct PairwiseUpdateKernels<double>;

}  // namespace fairlead::linalg
