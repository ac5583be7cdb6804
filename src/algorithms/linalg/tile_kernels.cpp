// What the tasks do. A tile with one column is a vector: then the routines for vectors are called, which read
// a matrix faster than those for matrices do.
#include "algorithms/linalg/tile_kernels.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
void triangular_solve(const Kernels& kernels, Transpose op, const TileView<const T>& l,
                      const TileView<T>& x) {
  const int n = l.rows(), columns = x.columns();
  if (columns == 1)
    kernels.blas().trsv<T>(Triangle::lower, op, Diagonal::general, n, l.data(), l.leading_dimension(),
                           x.data(), 1);
  else
    kernels.blas().trsm<T>(Side::left, Triangle::lower, op, Diagonal::general, n, columns, 1, l.data(),
                           l.leading_dimension(), x.data(), x.leading_dimension());
  kernels.count(trsm_flops(columns, n));
}

template <class T>
void subtract_product(const Kernels& kernels, Transpose op, const TileView<const T>& a,
                      const TileView<const T>& x, const TileView<T>& y) {
  const int columns = y.columns();
  if (columns == 1)
    kernels.blas().gemv<T>(op, a.rows(), a.columns(), -1, a.data(), a.leading_dimension(), x.data(), 1, 1,
                           y.data(), 1);
  else
    kernels.blas().gemm<T>(op, Transpose::no, y.rows(), columns, x.rows(), -1, a.data(),
                           a.leading_dimension(), x.data(), x.leading_dimension(), 1, y.data(),
                           y.leading_dimension());
  kernels.count(gemm_flops(y.rows(), columns, x.rows()));
}

}  // namespace

template <class T>
TileKernels<T>::TileKernels(const Kernels& kernels)
    : potrf(codelet("potrf").cpu([kernels](InOut<Tile> a, std::int64_t first_column) {
        const int info = kernels.blas().potrf<T>(Triangle::lower, a.rows(), a.data(), a.leading_dimension());
        if (info > 0)
          throw NumericalError(
              fmt::format("the matrix is not positive definite: this shows in column {}, counted from 0 (the "
                          "leading minor of order {})",
                          first_column + info - 1, first_column + info));
        kernels.count(potrf_flops(a.rows()));
      })),
      trsm(codelet("trsm").cpu([kernels](In<Tile> l, InOut<Tile> a) {
        panel_solve<T>(kernels.blas(), a.rows(), a.columns(), l.data(), l.leading_dimension(), a.data(),
                       a.leading_dimension());
        kernels.count(trsm_flops(a.rows(), a.columns()));
      })),
      syrk(codelet("syrk").cpu([kernels](In<Tile> a, InOut<Tile> c) {
        kernels.blas().syrk<T>(Triangle::lower, Transpose::no, c.rows(), a.columns(), -1, a.data(),
                               a.leading_dimension(), 1, c.data(), c.leading_dimension());
        kernels.count(syrk_flops(c.rows(), a.columns()));
      })),
      gemm(codelet("gemm").cpu([kernels](In<Tile> a, In<Tile> b, InOut<Tile> c) {
        kernels.blas().gemm<T>(Transpose::no, Transpose::yes, c.rows(), c.columns(), a.columns(), -1,
                               a.data(), a.leading_dimension(), b.data(), b.leading_dimension(), 1, c.data(),
                               c.leading_dimension());
        kernels.count(gemm_flops(c.rows(), c.columns(), a.columns()));
      })),
      solve_lower(codelet("solve_lower").cpu([kernels](In<Tile> l, InOut<Tile> x) {
        triangular_solve<T>(kernels, Transpose::no, l, x);
      })),
      solve_upper(codelet("solve_upper").cpu([kernels](In<Tile> l, InOut<Tile> x) {
        triangular_solve<T>(kernels, Transpose::yes, l, x);
      })),
      update_lower(codelet("update_lower").cpu([kernels](In<Tile> a, In<Tile> x, InOut<Tile> y) {
        subtract_product<T>(kernels, Transpose::no, a, x, y);
      })),
      update_upper(codelet("update_upper").cpu([kernels](In<Tile> a, In<Tile> x, InOut<Tile> y) {
        subtract_product<T>(kernels, Transpose::yes, a, x, y);
      })) {}

template struct TileKernels<float>;
template struct TileKernels<double>;

}  // namespace fairlead::linalg
