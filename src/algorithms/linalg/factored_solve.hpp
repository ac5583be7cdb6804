// The two triangular solves after a factorization, common to Cholesky and LU.
#pragma once
#include <initializer_list>

#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

/// b := L^-1 b for each b: the first of the two sweeps. The shapes must match.
template <class T>
void solve_forward(Flow& flow, const Kernels& kernels, Factors factors, const TiledMatrix<T>& a,
                   std::initializer_list<const TiledMatrix<T>*> bs);
/// b := R^-1 b for each b, where R is L^H or U: the second sweep.
template <class T>
void solve_backward(Flow& flow, const Kernels& kernels, Factors factors, const TiledMatrix<T>& a,
                    std::initializer_list<const TiledMatrix<T>*> bs);

/// b := (L R)^-1 b for each b, where R is L^H or U. All solves share the same two sweeps over the factors, forward and
/// backward. Throws UsageError if the shapes or the sides of the tiles do not match.
template <class T>
void solve_factored(Flow& flow, const Kernels& kernels, Factors factors, const TiledMatrix<T>& a,
                    std::initializer_list<const TiledMatrix<T>*> bs);

extern template void solve_factored<float>(Flow&, const Kernels&, Factors, const TiledMatrix<float>&,
                                           std::initializer_list<const TiledMatrix<float>*>);
extern template void solve_factored<double>(Flow&, const Kernels&, Factors, const TiledMatrix<double>&,
                                            std::initializer_list<const TiledMatrix<double>*>);

}  // namespace fairlead::linalg
