// Plain: backward by columns from the last. Adjoint: forward by rows.
#include "algorithms/linalg/upper_solve.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <complex>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/singular_error.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
void check_diagonal(const UpperTriangle& triangle, const TileView<const T>& u, std::int64_t first_column) {
  for (int j = 0; j < u.columns(); ++j)
    for (int i = 0; i <= j; ++i)
      if (!is_finite_number(u(i, j)))
        throw NumericalError(
            fmt::format("{} is not finite in column {}, counted from 0", triangle.name, first_column + j));
  for (int j = 0; j < u.columns(); ++j)
    if (u(j, j) == T(0))
      throw SingularError(fmt::format("{}: {} has a zero on the diagonal in column {}, counted from 0",
                                      triangle.zero_means, triangle.name, first_column + j));
}

/// X := op(U)^-1 X, in as many rows as U has columns.
template <class T>
void solve_with(const Kernels& kernels, Transpose op, const TileView<const T>& u, const TileView<T>& x) {
  const int n = u.columns(), columns = x.columns();
  if (columns == 1)
    kernels.blas().trsv<T>(Triangle::upper, op, Diagonal::general, n, u.data(), u.leading_dimension(),
                           x.data(), 1);
  else
    kernels.blas().trsm<T>(Side::left, Triangle::upper, op, Diagonal::general, n, columns, 1, u.data(),
                           u.leading_dimension(), x.data(), x.leading_dimension());
  kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(columns, n));
}

/// Y := Y - op(A) X. X and Y may have more rows than op(A) needs; the others are not accessed.
template <class T>
void subtract_product(const Kernels& kernels, Transpose op, const TileView<const T>& a,
                      const TileView<const T>& x, const TileView<T>& y) {
  const int rows = op == Transpose::no ? a.rows() : a.columns(),
            inner = op == Transpose::no ? a.columns() : a.rows();
  if (y.columns() == 1)
    kernels.blas().gemv<T>(op, a.rows(), a.columns(), -1, a.data(), a.leading_dimension(), x.data(), 1, 1,
                           y.data(), 1);
  else
    kernels.blas().gemm<T>(op, Transpose::no, rows, y.columns(), inner, -1, a.data(), a.leading_dimension(),
                           x.data(), x.leading_dimension(), 1, y.data(), y.leading_dimension());
  kernels.count(Kernel::gemm, real_flops<T> * gemm_flops(rows, y.columns(), inner));
}

template <class T>
Transpose transpose_of(UpperForm form) noexcept {
  return form == UpperForm::adjoint ? adjoint<T> : Transpose::no;
}

}  // namespace

template <class T>
UpperKernels<T>::UpperKernels(const Kernels& kernels, const UpperTriangle& triangle, UpperForm form)
    : solve(codelet("solve_upper")
                .cpu(body_of_type<T>,
                     [kernels, triangle, op = transpose_of<T>(form)](In<Tile> u, InOut<Tile> x,
                                                                     std::int64_t column) {
                       check_diagonal<T>(triangle, u, column);
                       solve_with<T>(kernels, op, u, x);
                     })
                .emulated()),
      update(codelet("update_upper")
                 .cpu(body_of_type<T>,
                      [kernels, op = transpose_of<T>(form)](In<Tile> u, In<Tile> x, InOut<Tile> y) {
                        subtract_product<T>(kernels, op, u, x, y);
                      })
                 .emulated()) {}

template <class T>
void solve_upper(Flow& flow, const Kernels& kernels, const UpperTriangle& triangle, const TiledMatrix<T>& a,
                 std::initializer_list<const TiledMatrix<T>*> bs, UpperForm form) {
  const bool transposed = form == UpperForm::adjoint;
  const UpperKernels<T> tile(kernels, triangle, form);
  const std::int32_t nt = a.tile_columns();
  for (std::int32_t step = 0; step < nt; ++step) {
    const std::int32_t k = transposed ? step : nt - 1 - step;
    for (const TiledMatrix<T>* b : bs)
      for (std::int32_t c = 0; c < b->tile_columns(); ++c)
        flow.submit(on_owner_of(tile.solve(a(k, k), (*b)(k, c), static_cast<std::int64_t>(k) * a.tile())
                                    .priority(2 * (nt - 1 - step)),
                                a, k, k, *b));
    for (std::int32_t other = step + 1; other < nt; ++other) {
      const std::int32_t i = transposed ? other : nt - 1 - other;
      const std::int32_t row = transposed ? k : i, column = transposed ? i : k;
      for (const TiledMatrix<T>* b : bs)
        for (std::int32_t c = 0; c < b->tile_columns(); ++c)
          flow.submit(on_owner_of(
              tile.update(a(row, column), (*b)(k, c), (*b)(i, c)).priority(2 * nt - 2 - step - other), a, row,
              column, *b));
    }
  }
}

#define FAIRLEAD_UPPER_SOLVE_OF(T)                                                                 \
  template struct UpperKernels<T>;                                                                 \
  template void solve_upper<T>(Flow&, const Kernels&, const UpperTriangle&, const TiledMatrix<T>&, \
                               std::initializer_list<const TiledMatrix<T>*>, UpperForm);
FAIRLEAD_UPPER_SOLVE_OF(float)
FAIRLEAD_UPPER_SOLVE_OF(double)
FAIRLEAD_UPPER_SOLVE_OF(std::complex<float>)
FAIRLEAD_UPPER_SOLVE_OF(std::complex<double>)
#undef FAIRLEAD_UPPER_SOLVE_OF

}  // namespace fairlead::linalg
