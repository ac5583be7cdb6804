// The solve with A^H after an LU factorization without pivoting: forward with U^H, backward with L^H.
#include <fairlead/codelet.hpp>
#include <fairlead/linalg.hpp>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/transposed_lower.hpp"
#include "algorithms/linalg/upper_solve.hpp"

namespace fairlead::linalg {

template <class T>
void solve_lu_transposed(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& lu,
                         const TiledMatrix<T>& b) {
  require_system(lu, b);
  solve_upper(flow, kernels, u_of_lu, lu, {&b}, UpperForm::adjoint);
  const auto solve =
      codelet("solve_lower")
          .cpu(body_of_type<T>,
               [kernels](In<Tile<T>> l, InOut<Tile<T>> x) {
                 kernels.blas().trsm<T>(Side::left, Triangle::lower, adjoint<T>, Diagonal::unit, x.rows(),
                                        x.columns(), 1, l.data(), l.leading_dimension(), x.data(),
                                        x.leading_dimension());
                 kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(x.columns(), x.rows()));
               })
          .emulated();
  const auto update = update_by_transposed_lower<T>(kernels);
  for (std::int32_t k = lu.tile_rows() - 1; k >= 0; --k)
    for (std::int32_t c = 0; c < b.tile_columns(); ++c) {
      flow.submit(on_owner_of(solve(lu(k, k), b(k, c)).priority(2 * k), lu, k, k, b));
      for (std::int32_t i = k - 1; i >= 0; --i)
        flow.submit(on_owner_of(update(lu(k, i), b(k, c), b(i, c)).priority(k + i), lu, k, i, b));
    }
}

template void solve_lu_transposed<float>(Flow&, const Kernels&, const TiledMatrix<float>&,
                                         const TiledMatrix<float>&);
template void solve_lu_transposed<double>(Flow&, const Kernels&, const TiledMatrix<double>&,
                                          const TiledMatrix<double>&);
template void solve_lu_transposed<std::complex<float>>(Flow&, const Kernels&,
                                                       const TiledMatrix<std::complex<float>>&,
                                                       const TiledMatrix<std::complex<float>>&);
template void solve_lu_transposed<std::complex<double>>(Flow&, const Kernels&,
                                                        const TiledMatrix<std::complex<double>>&,
                                                        const TiledMatrix<std::complex<double>>&);

}  // namespace fairlead::linalg
