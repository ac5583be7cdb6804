// Codelets of the tiled Cholesky and LU factorizations, of products and of triangular solves, with bodies for
// cores and devices. On cores, a tile with one column uses level 2 BLAS (trsv, gemv), which reads the matrix
// faster than level 3.
#include "algorithms/linalg/tile_kernels.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/blas/unpivoted_lu.hpp"
#include "algorithms/linalg/cuda/cuda_blas.hpp"
#include "algorithms/linalg/opencl/opencl_blas.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
using Input = TileView<const T>;

/// Forward substitution with L, and backward substitution with L^T or U.
constexpr TriangularSolve forward_solve(Factors factors) noexcept {
  return {Side::left, Triangle::lower, Transpose::no,
          factors == Factors::lu ? Diagonal::unit : Diagonal::general};
}
constexpr TriangularSolve backward_solve(Factors factors) noexcept {
  const bool lu = factors == Factors::lu;
  return {Side::left, lu ? Triangle::upper : Triangle::lower, lu ? Transpose::no : Transpose::yes,
          Diagonal::general};
}
/// The operation on an off-diagonal tile in the backward solve.
constexpr Transpose backward_update_op(Factors factors) noexcept {
  return factors == Factors::lu ? Transpose::no : Transpose::yes;
}

/// X := op(A)^-1 X.
template <class T>
void solve_triangle(const Kernels& kernels, const TriangularSolve& solve, const Input<T>& a,
                    const TileView<T>& x) {
  const int n = a.rows(), columns = x.columns();
  if (columns == 1)
    kernels.blas().trsv<T>(solve.triangle, solve.op, solve.diagonal, n, a.data(), a.leading_dimension(),
                           x.data(), 1);
  else
    kernels.blas().trsm<T>(Side::left, solve.triangle, solve.op, solve.diagonal, n, columns, 1, a.data(),
                           a.leading_dimension(), x.data(), x.leading_dimension());
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

// A device body launches its kernels with an OpenclQueue or a CudaStream. Overloads on this type select the
// library.

const OpenclBlas& device_blas(const Kernels& kernels, const OpenclQueue&) { return kernels.opencl(); }
const CudaBlas& device_blas(const Kernels& kernels, const CudaStream&) { return kernels.cuda(); }

template <class View>
OpenclMatrix device_matrix(const OpenclQueue& queue, const View& tile) {
  return {queue.buffer(tile), static_cast<std::size_t>(tile.leading_dimension())};
}
template <class View>
auto device_matrix(const CudaStream&, const View& tile) {
  return cuda_matrix(tile);
}

constexpr std::size_t size(int count) noexcept { return static_cast<std::size_t>(count); }

/// C := alpha op(A) op(B) + beta C on a device.
template <class T, class Queue>
void product(const Queue& queue, const Kernels& kernels, Transpose op_a, Transpose op_b, T alpha,
             const Input<T>& a, const Input<T>& b, T beta, const TileView<T>& c) {
  const int inner = op_a == Transpose::no ? a.columns() : a.rows();
  device_blas(kernels, queue)
      .template gemm<T>(queue, op_a, op_b, size(c.rows()), size(c.columns()), size(inner), alpha,
                        device_matrix(queue, a), device_matrix(queue, b), beta, device_matrix(queue, c));
  kernels.count(Kernel::gemm, gemm_flops(c.rows(), c.columns(), inner));
}

// Bodies for devices.

template <class T, class Queue>
auto solve_on(const Kernels& kernels, const TriangularSolve& solve) {
  return [kernels, solve](Queue queue, In<Tile<T>> t, InOut<Tile<T>> a) {
    device_blas(kernels, queue)
        .template solve<T>(queue, solve, size(a.rows()), size(a.columns()), device_matrix(queue, t),
                           device_matrix(queue, a));
    const bool right = solve.side == Side::right;
    kernels.count(Kernel::trsm, trsm_flops(right ? a.rows() : a.columns(), right ? a.columns() : a.rows()));
  };
}
template <class T, class Queue>
auto syrk_on(const Kernels& kernels) {
  return [kernels](Queue queue, In<Tile<T>> a, InOut<Tile<T>> c) {
    device_blas(kernels, queue)
        .template syrk_lower<T>(queue, size(c.rows()), size(a.columns()), device_matrix(queue, a),
                                device_matrix(queue, c));
    kernels.count(Kernel::syrk, syrk_flops(c.rows(), a.columns()));
  };
}
template <class T, class Queue>
auto update_on(const Kernels& kernels, Transpose op_a, Transpose op_b, T alpha, T beta) {
  return [kernels, op_a, op_b, alpha, beta](Queue queue, In<Tile<T>> a, In<Tile<T>> b, InOut<Tile<T>> c) {
    product<T>(queue, kernels, op_a, op_b, alpha, a, b, beta, c);
  };
}
template <class T, class Queue>
auto product_on(const Kernels& kernels, T alpha) {
  return [kernels, alpha](Queue queue, In<Tile<T>> a, In<Tile<T>> b, Out<Tile<T>> c) {
    product<T>(queue, kernels, Transpose::no, Transpose::no, alpha, a, b, 0, c);
  };
}

/// Throws if `info`, the result of potrf, reports an error. `first_column`: the first column of the tile in
/// the matrix.
void check_definite(int info, std::int64_t first_column) {
  if (info > 0)
    throw NumericalError(fmt::format(
        "the matrix is not positive definite: the factorization fails in column {}, counted from 0 (the "
        "leading minor of order {})",
        first_column + info - 1, first_column + info));
}

/// The operations of C := C + A op(B); A is not transposed.
constexpr auto product_task_flops = [](auto& a, auto&, auto& c) {
  return gemm_flops(c.rows(), c.columns(), a.columns());
};

/// The name of a CUDA body. Durations are recorded by name, so TF32 and single precision have different
/// names.
template <class T>
std::string body_name(const Kernels& kernels) {
  return std::is_same_v<T, float> && kernels.are_in_tf32() ? "tf32" : "";
}

/// Solves with the triangle of a diagonal tile; the right-hand sides are a tile A below it or right of it.
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
      .opencl(solve_on<T, OpenclQueue>(kernels, solve))
      .cuda(body_name<T>(kernels), solve_on<T, CudaStream>(kernels, solve))
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
      .opencl(update_on<T, OpenclQueue>(kernels, Transpose::no, op_b, -1, 1))
      .cuda(body_name<T>(kernels), update_on<T, CudaStream>(kernels, Transpose::no, op_b, -1, 1))
      .flops(product_task_flops)
      .emulated();
}

}  // namespace

template <class T>
CholeskyKernels<T>::CholeskyKernels(const Kernels& kernels)
    : potrf(codelet("potrf")
                .cpu([kernels](InOut<Tile> a, std::int64_t first_column) {
                  const int info =
                      kernels.blas().potrf<T>(Triangle::lower, a.rows(), a.data(), a.leading_dimension());
                  check_definite(info, first_column);
                  kernels.count(Kernel::potrf, potrf_flops(a.rows()));
                })
                .cuda(body_name<T>(kernels),
                      [kernels](CudaStream stream, InOut<Tile> a, std::int64_t first_column) {
                        kernels.cuda().potrf_lower<T>(stream, size(a.rows()), device_matrix(stream, a),
                                                      [kernels, first_column, rows = a.rows()](int info) {
                                                        check_definite(info, first_column);
                                                        kernels.count(Kernel::potrf, potrf_flops(rows));
                                                      });
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
               .opencl(syrk_on<T, OpenclQueue>(kernels))
               .cuda(body_name<T>(kernels), syrk_on<T, CudaStream>(kernels))
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
                .cuda(body_name<T>(kernels),
                      [kernels](CudaStream stream, InOut<Tile> a, std::int64_t first_column) {
                        kernels.cuda().unpivoted_lu<T>(
                            stream, size(a.rows()), device_matrix(stream, a),
                            [kernels, first_column, rows = a.rows()](int info) {
                              if (info > 0)
                                throw NumericalError(fmt::format(
                                    "the matrix has no LU factorization without pivoting: the pivot in "
                                    "column {}, counted from 0, is zero",
                                    first_column + info - 1));
                              kernels.count(Kernel::getrf, getrf_flops(rows));
                            });
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
              .opencl(product_on<T, OpenclQueue>(kernels, alpha))
              .cuda(body_name<T>(kernels), product_on<T, CudaStream>(kernels, alpha))
              .flops(product_task_flops)
              .emulated()),
      scale_and_add(codelet("gemm")
                        .cpu([kernels, alpha, beta](In<Tile> a, In<Tile> b, InOut<Tile> c) {
                          product<T>(kernels, Transpose::no, Transpose::no, alpha, a, b, beta, c);
                        })
                        .opencl(update_on<T, OpenclQueue>(kernels, Transpose::no, Transpose::no, alpha, beta))
                        .cuda(body_name<T>(kernels),
                              update_on<T, CudaStream>(kernels, Transpose::no, Transpose::no, alpha, beta))
                        .flops(product_task_flops)
                        .emulated()),
      add(codelet("gemm")
              .cpu([kernels, alpha](In<Tile> a, In<Tile> b, InOut<Tile> c) {
                product<T>(kernels, Transpose::no, Transpose::no, alpha, a, b, 1, c);
              })
              .opencl(update_on<T, OpenclQueue>(kernels, Transpose::no, Transpose::no, alpha, 1))
              .cuda(body_name<T>(kernels),
                    update_on<T, CudaStream>(kernels, Transpose::no, Transpose::no, alpha, 1))
              .flops(product_task_flops)
              .emulated()) {}

template <class T>
SolveKernels<T>::SolveKernels(const Kernels& kernels, Factors factors)
    : solve_lower(codelet("solve_lower")
                      .cpu([kernels, factors](In<Tile> l, InOut<Tile> x) {
                        solve_triangle<T>(kernels, forward_solve(factors), l, x);
                      })
                      .cuda(body_name<T>(kernels), solve_on<T, CudaStream>(kernels, forward_solve(factors)))
                      .emulated()),
      solve_upper(codelet("solve_upper")
                      .cpu([kernels, factors](In<Tile> r, InOut<Tile> x) {
                        solve_triangle<T>(kernels, backward_solve(factors), r, x);
                      })
                      .cuda(body_name<T>(kernels), solve_on<T, CudaStream>(kernels, backward_solve(factors)))
                      .emulated()),
      update_lower(codelet("update_lower")
                       .cpu([kernels](In<Tile> a, In<Tile> x, InOut<Tile> y) {
                         product<T>(kernels, Transpose::no, Transpose::no, -1, a, x, 1, y);
                       })
                       .opencl(update_on<T, OpenclQueue>(kernels, Transpose::no, Transpose::no, -1, 1))
                       .cuda(body_name<T>(kernels),
                             update_on<T, CudaStream>(kernels, Transpose::no, Transpose::no, -1, 1))
                       .emulated()),
      update_upper(
          codelet("update_upper")
              .cpu([kernels, factors](In<Tile> a, In<Tile> x, InOut<Tile> y) {
                product<T>(kernels, backward_update_op(factors), Transpose::no, -1, a, x, 1, y);
              })
              .opencl(update_on<T, OpenclQueue>(kernels, backward_update_op(factors), Transpose::no, -1, 1))
              .cuda(body_name<T>(kernels),
                    update_on<T, CudaStream>(kernels, backward_update_op(factors), Transpose::no, -1, 1))
              .emulated()) {}

#define FAIRLEAD_INSTANTIATE_KERNELS(T) \
  template struct CholeskyKernels<T>;   \
  template struct LuKernels<T>;         \
  template struct ProductKernels<T>;    \
  template struct SolveKernels<T>;
FAIRLEAD_INSTANTIATE_KERNELS(float)
FAIRLEAD_INSTANTIATE_KERNELS(double)
#undef FAIRLEAD_INSTANTIATE_KERNELS

}  // namespace fairlead::linalg
