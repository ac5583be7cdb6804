// The update of a solve with the adjoint of the lower triangle of an LU factorization.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/linalg.hpp>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/body_name.hpp"

namespace fairlead::linalg {

/// Y := Y - L^H X, for a tile L below the diagonal.
template <class T>
auto update_by_transposed_lower(const Kernels& kernels) {
  return codelet("update_lower")
      .cpu(body_of_type<T>,
           [kernels](In<Tile<T>> l, In<Tile<T>> x, InOut<Tile<T>> y) {
             kernels.blas().gemm<T>(adjoint<T>, Transpose::no, y.rows(), y.columns(), x.rows(), -1, l.data(),
                                    l.leading_dimension(), x.data(), x.leading_dimension(), 1, y.data(),
                                    y.leading_dimension());
             kernels.count(Kernel::gemm, real_flops<T> * gemm_flops(y.rows(), y.columns(), x.rows()));
           })
      .emulated();
}

}  // namespace fairlead::linalg
