// What the tasks do. A tile with one column is a vector: then the routines for vectors are called, which read
// a matrix faster than those for matrices do.
#include "algorithms/linalg/tile_kernels.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/blas/unpivoted_lu.hpp"
#include "algorithms/linalg/opencl/opencl_blas.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
using Input = TileView<const T>;

/// X := op(A)^-1 X.
template <class T>
void solve_triangle(const Kernels& kernels, Triangle triangle, Transpose op, Diagonal diagonal,
                    const Input<T>& a, const TileView<T>& x) {
  const int n = a.rows(), columns = x.columns();
  if (columns == 1)
    kernels.blas().trsv<T>(triangle, op, diagonal, n, a.data(), a.leading_dimension(), x.data(), 1);
  else
    kernels.blas().trsm<T>(Side::left, triangle, op, diagonal, n, columns, 1, a.data(), a.leading_dimension(),
                           x.data(), x.leading_dimension());
  kernels.count(Kernel::trsm, trsm_flops(columns, n));
}

/// C := alpha op(A) op(B) + beta C.
template <class T>
void product(const Kernels& kernels, Transpose op_a, Transpose op_b, T alpha, const Input<T>& a,
             const Input<T>& b, T beta, const TileView<T>& c) {
  const int inner = op_a == Transpose::no ? a.columns() : a.rows();
  if (c.columns() == 1 && op_b == Transpose::no)
    kernels.blas().gemv<T>(op_a, a.rows(), a.columns(), alpha, a.data(), a.leading_dimension(), b.data(), 1,
                           beta, c.data(), 1);
  else
    kernels.blas().gemm<T>(op_a, op_b, c.rows(), c.columns(), inner, alpha, a.data(), a.leading_dimension(),
                           b.data(), b.leading_dimension(), beta, c.data(), c.leading_dimension());
  kernels.count(Kernel::gemm, gemm_flops(c.rows(), c.columns(), inner));
}

/// On an OpenCL device.
template <class View>
OpenclMatrix there(const OpenclQueue& queue, const View& tile) {
  return {queue.buffer(tile), static_cast<std::size_t>(tile.leading_dimension())};
}

/// The same there.
template <class T>
void product(const OpenclQueue& queue, const Kernels& kernels, Transpose op_a, Transpose op_b, T alpha,
             const Input<T>& a, const Input<T>& b, T beta, const TileView<T>& c) {
  const int inner = op_a == Transpose::no ? a.columns() : a.rows();
  kernels.opencl().gemm<T>(queue, op_a, op_b, static_cast<std::size_t>(c.rows()),
                           static_cast<std::size_t>(c.columns()), static_cast<std::size_t>(inner), alpha,
                           there(queue, a), there(queue, b), beta, there(queue, c));
  kernels.count(Kernel::gemm, gemm_flops(c.rows(), c.columns(), inner));
}

/// A is not transposed in any of them.
constexpr auto flops_of_product = [](auto& a, auto&, auto& c) {
  return gemm_flops(c.rows(), c.columns(), a.columns());
};

/// A solve with the triangle of a tile on the diagonal, for a whole tile A below it or right of it.
template <class T>
auto solve_codelet(const Kernels& kernels, const TriangularSolve& solve) {
  return codelet("trsm")
      .cpu([kernels, solve](In<Tile<T>> t, InOut<Tile<T>> a) {
        panel_solve<T>(kernels.blas(), solve, a.rows(), a.columns(), t.data(), t.leading_dimension(),
                       a.data(), a.leading_dimension());
        const bool right = solve.side == Side::right;
        kernels.count(Kernel::trsm,
                      trsm_flops(right ? a.rows() : a.columns(), right ? a.columns() : a.rows()));
      })
      .opencl([kernels, solve](OpenclQueue queue, In<Tile<T>> t, InOut<Tile<T>> a) {
        kernels.opencl().solve<T>(queue, solve, static_cast<std::size_t>(a.rows()),
                                  static_cast<std::size_t>(a.columns()), there(queue, t), there(queue, a));
        const bool right = solve.side == Side::right;
        kernels.count(Kernel::trsm,
                      trsm_flops(right ? a.rows() : a.columns(), right ? a.columns() : a.rows()));
      })
      .flops([right = solve.side == Side::right](auto&, auto& a) {
        return right ? trsm_flops(a.rows(), a.columns()) : trsm_flops(a.columns(), a.rows());
      })
      .emulated();
}

/// C := C - A op(B).
template <class T>
auto update_codelet(const Kernels& kernels, Transpose op_b) {
  return codelet("gemm")
      .cpu([kernels, op_b](In<Tile<T>> a, In<Tile<T>> b, InOut<Tile<T>> c) {
        product<T>(kernels, Transpose::no, op_b, -1, a, b, 1, c);
      })
      .opencl([kernels, op_b](OpenclQueue queue, In<Tile<T>> a, In<Tile<T>> b, InOut<Tile<T>> c) {
        product<T>(queue, kernels, Transpose::no, op_b, -1, a, b, 1, c);
      })
      .flops(flops_of_product)
      .emulated();
}

}  // namespace

template <class T>
CholeskyKernels<T>::CholeskyKernels(const Kernels& kernels)
    : potrf(codelet("potrf")
                .cpu([kernels](InOut<Tile> a, std::int64_t first_column) {
                  const int info =
                      kernels.blas().potrf<T>(Triangle::lower, a.rows(), a.data(), a.leading_dimension());
                  if (info > 0)
                    throw NumericalError(fmt::format(
                        "the matrix is not positive definite: this shows in column {}, counted from 0 (the "
                        "leading minor of order {})",
                        first_column + info - 1, first_column + info));
                  kernels.count(Kernel::potrf, potrf_flops(a.rows()));
                })
                .flops([](auto& a, std::int64_t) { return potrf_flops(a.rows()); })
                .emulated()),
      trsm(solve_codelet<T>(kernels, below_cholesky)),
      syrk(codelet("syrk")
               .cpu([kernels](In<Tile> a, InOut<Tile> c) {
                 kernels.blas().syrk<T>(Triangle::lower, Transpose::no, c.rows(), a.columns(), -1, a.data(),
                                        a.leading_dimension(), 1, c.data(), c.leading_dimension());
                 kernels.count(Kernel::syrk, syrk_flops(c.rows(), a.columns()));
               })
               .opencl([kernels](OpenclQueue queue, In<Tile> a, InOut<Tile> c) {
                 kernels.opencl().syrk_lower<T>(queue, static_cast<std::size_t>(c.rows()),
                                                static_cast<std::size_t>(a.columns()), there(queue, a),
                                                there(queue, c));
                 kernels.count(Kernel::syrk, syrk_flops(c.rows(), a.columns()));
               })
               .flops([](auto& a, auto& c) { return syrk_flops(c.rows(), a.columns()); })
               .emulated()),
      gemm(update_codelet<T>(kernels, Transpose::yes)) {}

template <class T>
LuKernels<T>::LuKernels(const Kernels& kernels)
    : getrf(codelet("getrf")
                .cpu([kernels](InOut<Tile> a, std::int64_t first_column) {
                  const int info =
                      unpivoted_lu<T>(kernels.blas(), a.rows(), a.columns(), a.data(), a.leading_dimension());
                  if (info > 0) {
                    const T pivot = a(info - 1, info - 1);
                    throw NumericalError(
                        fmt::format("the matrix has no LU factorization without pivoting: the pivot in "
                                    "column {}, counted from 0, "
                                    "is {}",
                                    first_column + info - 1, pivot == 0 ? "zero" : "not finite"));
                  }
                  kernels.count(Kernel::getrf, getrf_flops(a.rows()));
                })
                .flops([](auto& a, std::int64_t) { return getrf_flops(a.rows()); })
                .emulated()),
      trsm_below(solve_codelet<T>(kernels, below_lu)),
      trsm_right(solve_codelet<T>(kernels, right_of_lu)),
      gemm(update_codelet<T>(kernels, Transpose::no)) {}

template <class T>
ProductKernels<T>::ProductKernels(const Kernels& kernels, T alpha, T beta)
    : set(codelet("gemm")
              .cpu([kernels, alpha](In<Tile> a, In<Tile> b, Out<Tile> c) {
                product<T>(kernels, Transpose::no, Transpose::no, alpha, a, b, 0, c);
              })
              .opencl([kernels, alpha](OpenclQueue queue, In<Tile> a, In<Tile> b, Out<Tile> c) {
                product<T>(queue, kernels, Transpose::no, Transpose::no, alpha, a, b, 0, c);
              })
              .flops(flops_of_product)
              .emulated()),
      scale_and_add(
          codelet("gemm")
              .cpu([kernels, alpha, beta](In<Tile> a, In<Tile> b, InOut<Tile> c) {
                product<T>(kernels, Transpose::no, Transpose::no, alpha, a, b, beta, c);
              })
              .opencl([kernels, alpha, beta](OpenclQueue queue, In<Tile> a, In<Tile> b, InOut<Tile> c) {
                product<T>(queue, kernels, Transpose::no, Transpose::no, alpha, a, b, beta, c);
              })
              .flops(flops_of_product)
              .emulated()),
      add(codelet("gemm")
              .cpu([kernels, alpha](In<Tile> a, In<Tile> b, InOut<Tile> c) {
                product<T>(kernels, Transpose::no, Transpose::no, alpha, a, b, 1, c);
              })
              .opencl([kernels, alpha](OpenclQueue queue, In<Tile> a, In<Tile> b, InOut<Tile> c) {
                product<T>(queue, kernels, Transpose::no, Transpose::no, alpha, a, b, 1, c);
              })
              .flops(flops_of_product)
              .emulated()) {}

template <class T>
SolveKernels<T>::SolveKernels(const Kernels& kernels, Factors factors)
    : solve_lower(codelet("solve_lower")
                      .cpu([kernels, factors](In<Tile> l, InOut<Tile> x) {
                        solve_triangle<T>(kernels, Triangle::lower, Transpose::no,
                                          factors == Factors::lu ? Diagonal::unit : Diagonal::general, l, x);
                      })
                      .emulated()),
      solve_upper(codelet("solve_upper")
                      .cpu([kernels, factors](In<Tile> r, InOut<Tile> x) {
                        const bool lu = factors == Factors::lu;
                        solve_triangle<T>(kernels, lu ? Triangle::upper : Triangle::lower,
                                          lu ? Transpose::no : Transpose::yes, Diagonal::general, r, x);
                      })
                      .emulated()),
      update_lower(codelet("update_lower")
                       .cpu([kernels](In<Tile> a, In<Tile> x, InOut<Tile> y) {
                         product<T>(kernels, Transpose::no, Transpose::no, -1, a, x, 1, y);
                       })
                       .opencl([kernels](OpenclQueue queue, In<Tile> a, In<Tile> x, InOut<Tile> y) {
                         product<T>(queue, kernels, Transpose::no, Transpose::no, -1, a, x, 1, y);
                       })
                       .emulated()),
      update_upper(codelet("update_upper")
                       .cpu([kernels, factors](In<Tile> a, In<Tile> x, InOut<Tile> y) {
                         product<T>(kernels, factors == Factors::lu ? Transpose::no : Transpose::yes,
                                    Transpose::no, -1, a, x, 1, y);
                       })
                       .opencl([kernels, factors](OpenclQueue queue, In<Tile> a, In<Tile> x, InOut<Tile> y) {
                         product<T>(queue, kernels, factors == Factors::lu ? Transpose::no : Transpose::yes,
                                    Transpose::no, -1, a, x, 1, y);
                       })
                       .emulated()) {}

#define FAIRLEAD_KERNELS_OF(T)        \
  template struct CholeskyKernels<T>; \
  template struct LuKernels<T>;       \
  template struct ProductKernels<T>;  \
  template struct SolveKernels<T>;
FAIRLEAD_KERNELS_OF(float)
FAIRLEAD_KERNELS_OF(double)
#undef FAIRLEAD_KERNELS_OF

}  // namespace fairlead::linalg
