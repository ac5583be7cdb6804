// What follows a factorization: the two triangular solves, which are alike after Cholesky and after LU.
#pragma once
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

/// b := (L R)^-1 b, where R is L^T or U. Throws UsageError if the shapes or the sides of the tiles do not
/// match.
template <class T>
void solve_factored(Flow& flow, const Kernels& kernels, Factors factors, const TiledMatrix<T>& a,
                    const TiledMatrix<T>& b);

extern template void solve_factored<float>(Flow&, const Kernels&, Factors, const TiledMatrix<float>&,
                                           const TiledMatrix<float>&);
extern template void solve_factored<double>(Flow&, const Kernels&, Factors, const TiledMatrix<double>&,
                                            const TiledMatrix<double>&);

}  // namespace fairlead::linalg
