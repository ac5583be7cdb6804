// Codelets of the tiled Cholesky and LU factorizations, of products and of triangular solves, with bodies for
// cores and devices. On cores, a tile with one column uses level 2 BLAS (trsv, gemv), which reads the matrix
// faster than level 3.
#include "algorithms/linalg/tile_kernels.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/blas/unpivoted_lu.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/cuda/cuda_blas.hpp"
#include "algorithms/linalg/opencl/opencl_blas.hpp"

namespace fairlead::linalg {

namespace {

template <class T>
using Input = TileView<const T>;

/// Forward substitution with L, and backward substitution with L^H or U.
constexpr TriangularSolve forward_solve(Factors factors) noexcept {
  return {Side::left, Triangle::lower, Transpose::no,
          factors == Factors::lu ? Diagonal::unit : Diagonal::general};
}
template <class T>
constexpr TriangularSolve backward_solve(Factors factors) noexcept {
  const bool lu = factors == Factors::lu;
  return {Side::left, lu ? Triangle::upper : Triangle::lower, lu ? Transpose::no : adjoint<T>,
          Diagonal::general};
}
/// The operation on an off-diagonal tile in the backward solve.
template <class T>
constexpr Transpose backward_update_op(Factors factors) noexcept {
  return factors == Factors::lu ? Transpose::no : adjoint<T>;
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
  kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(columns, n));
}

/// The elements that op(A) op(B) and C have in common, where one of them may be larger.
struct ProductShape {
  template <class View, class Result>
  ProductShape(Transpose op_a, Transpose op_b, const View& a, const View& b, const Result& c) noexcept
      : rows(std::min<int>(c.rows(), op_a == Transpose::no ? a.rows() : a.columns())),
        columns(std::min<int>(c.columns(), op_b == Transpose::no ? b.columns() : b.rows())),
        inner(op_a == Transpose::no ? a.columns() : a.rows()) {}
  int rows, columns, inner;
};

/// C := alpha op(A) op(B) + beta C.
template <class T>
void product(const Kernels& kernels, Transpose op_a, Transpose op_b, T alpha, const Input<T>& a,
             const Input<T>& b, T beta, const TileView<T>& c) {
  const ProductShape shape(op_a, op_b, a, b, c);
  if (shape.columns == 1 && op_b == Transpose::no)
    kernels.blas().gemv<T>(op_a, op_a == Transpose::no ? shape.rows : a.rows(),
                           op_a == Transpose::no ? a.columns() : shape.rows, alpha, a.data(),
                           a.leading_dimension(), b.data(), 1, beta, c.data(), 1);
  else
    kernels.blas().gemm<T>(op_a, op_b, shape.rows, shape.columns, shape.inner, alpha, a.data(),
                           a.leading_dimension(), b.data(), b.leading_dimension(), beta, c.data(),
                           c.leading_dimension());
  kernels.count(Kernel::gemm, real_flops<T> * gemm_flops(shape.rows, shape.columns, shape.inner));
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
  const ProductShape shape(op_a, op_b, a, b, c);
  device_blas(kernels, queue)
      .template gemm<T>(queue, op_a, op_b, size(shape.rows), size(shape.columns), size(shape.inner), alpha,
                        device_matrix(queue, a), device_matrix(queue, b), beta, device_matrix(queue, c));
  kernels.count(Kernel::gemm, gemm_flops(shape.rows, shape.columns, shape.inner));
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

/// The name of a CUDA body. Durations are recorded by name, so TF32 and single precision have different
/// names.
template <class T>
std::string body_name(const Kernels& kernels) {
  return std::is_same_v<T, float> && kernels.are_in_tf32() ? "tf32" : "";
}

/// Adds a body for CUDA devices, of real numbers only: body.operator()<CudaStream>().
template <class T, class C, class Body>
C with_cuda_body(const C& codelet, const Kernels& kernels, const Body& body) {
  if constexpr (Real<T>)
    return codelet.cuda(body_name<T>(kernels), body.template operator()<CudaStream>());
  else
    return codelet;
}
/// The same for OpenCL devices, too.
template <class T, class C, class Body>
C with_device_bodies(const C& codelet, const Kernels& kernels, const Body& body) {
  if constexpr (Real<T>)
    return with_cuda_body<T>(codelet.opencl(body.template operator()<OpenclQueue>()), kernels, body);
  else
    return codelet;
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
template <class T>
constexpr auto product_task_flops =
    [](auto& a, auto&, auto& c) { return real_flops<T> * gemm_flops(a.rows(), c.columns(), a.columns()); };

/// Solves with the triangle of a diagonal tile; the right-hand sides are a tile A below it or right of it.
template <class T>
auto solve_codelet(const Kernels& kernels, const TriangularSolve& solve) {
  const bool is_right = solve.side == Side::right;
  const auto on_cores =
      codelet("trsm")
          .cpu(body_of_type<T>,
               [kernels, solve, is_right](In<Tile<T>> t, InOut<Tile<T>> a) {
                 panel_solve<T>(kernels.blas(), solve, a.rows(), a.columns(), t.data(), t.leading_dimension(),
                                a.data(), a.leading_dimension());
                 kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(is_right ? a.rows() : a.columns(),
                                                                        is_right ? a.columns() : a.rows()));
               })
          .flops([is_right](auto&, auto& a) {
            return real_flops<T> *
                   (is_right ? trsm_flops(a.rows(), a.columns()) : trsm_flops(a.columns(), a.rows()));
          })
          .emulated();
  return with_device_bodies<T>(on_cores, kernels,
                               [&]<class Queue>() { return solve_on<T, Queue>(kernels, solve); });
}

/// C := alpha op(A) op(B) + beta C.
template <class T>
auto product_codelet(const char* name, const Kernels& kernels, Transpose op_a, Transpose op_b, T alpha,
                     T beta) {
  const auto on_cores =
      codelet(name)
          .cpu(body_of_type<T>,
               [kernels, op_a, op_b, alpha, beta](In<Tile<T>> a, In<Tile<T>> b, InOut<Tile<T>> c) {
                 product<T>(kernels, op_a, op_b, alpha, a, b, beta, c);
               })
          .emulated();
  return with_device_bodies<T>(on_cores, kernels, [&]<class Queue>() {
    return update_on<T, Queue>(kernels, op_a, op_b, alpha, beta);
  });
}

/// C := C - A op(B).
template <class T>
auto update_codelet(const Kernels& kernels, Transpose op_b) {
  return product_codelet<T>("gemm", kernels, Transpose::no, op_b, -1, 1).flops(product_task_flops<T>);
}

template <class T>
auto potrf_codelet(const Kernels& kernels) {
  const auto on_cores =
      codelet("potrf")
          .cpu(body_of_type<T>,
               [kernels](InOut<Tile<T>> a, std::int64_t first_column) {
                 const int info =
                     kernels.blas().potrf<T>(Triangle::lower, a.rows(), a.data(), a.leading_dimension());
                 check_definite(info, first_column);
                 kernels.count(Kernel::potrf, real_flops<T> * potrf_flops(a.rows()));
               })
          .flops([](auto& a, std::int64_t) { return real_flops<T> * potrf_flops(a.rows()); })
          .emulated();
  return with_cuda_body<T>(on_cores, kernels, [&]<class Stream>() {
    return [kernels](Stream stream, InOut<Tile<T>> a, std::int64_t first_column) {
      kernels.cuda().template potrf_lower<T>(stream, size(a.rows()), device_matrix(stream, a),
                                             [kernels, first_column, rows = a.rows()](int info) {
                                               check_definite(info, first_column);
                                               kernels.count(Kernel::potrf, potrf_flops(rows));
                                             });
    };
  });
}

[[noreturn]] void throw_without_pivots(std::int64_t column, const char* pivot) {
  throw NumericalError(
      fmt::format("the matrix has no LU factorization without pivoting: the pivot in column {}, counted from "
                  "0, is {}",
                  column, pivot));
}

template <class T>
auto getrf_codelet(const Kernels& kernels) {
  const auto on_cores =
      codelet("getrf")
          .cpu(body_of_type<T>,
               [kernels](InOut<Tile<T>> a, std::int64_t first_column) {
                 const int info =
                     unpivoted_lu<T>(kernels.blas(), a.rows(), a.columns(), a.data(), a.leading_dimension());
                 if (info > 0)
                   throw_without_pivots(first_column + info - 1,
                                        a(info - 1, info - 1) == T(0) ? "zero" : "not finite");
                 kernels.count(Kernel::getrf, real_flops<T> * getrf_flops(a.rows()));
               })
          .flops([](auto& a, std::int64_t) { return real_flops<T> * getrf_flops(a.rows()); })
          .emulated();
  return with_cuda_body<T>(on_cores, kernels, [&]<class Stream>() {
    return [kernels](Stream stream, InOut<Tile<T>> a, std::int64_t first_column) {
      kernels.cuda().template unpivoted_lu<T>(stream, size(a.rows()), device_matrix(stream, a),
                                              [kernels, first_column, rows = a.rows()](int info) {
                                                if (info > 0)
                                                  throw_without_pivots(first_column + info - 1, "zero");
                                                kernels.count(Kernel::getrf, getrf_flops(rows));
                                              });
    };
  });
}

/// A solve with a triangle on the diagonal, for right-hand sides.
template <class T>
auto triangle_codelet(const char* name, const Kernels& kernels, const TriangularSolve& solve) {
  const auto on_cores =
      codelet(name)
          .cpu(body_of_type<T>,
               [kernels, solve](In<Tile<T>> t, InOut<Tile<T>> x) { solve_triangle<T>(kernels, solve, t, x); })
          .emulated();
  return with_cuda_body<T>(on_cores, kernels,
                           [&]<class Stream>() { return solve_on<T, Stream>(kernels, solve); });
}

}  // namespace

template <class T>
CholeskyKernels<T>::CholeskyKernels(const Kernels& kernels)
    : potrf(potrf_codelet<T>(kernels)),
      trsm(solve_codelet<T>(kernels, below_cholesky<T>)),
      syrk(with_device_bodies<T>(
          codelet("syrk")
              .cpu(body_of_type<T>,
                   [kernels](In<Tile> a, InOut<Tile> c) {
                     kernels.blas().syrk<T>(Triangle::lower, Transpose::no, c.rows(), a.columns(), -1,
                                            a.data(), a.leading_dimension(), 1, c.data(),
                                            c.leading_dimension());
                     kernels.count(Kernel::syrk, real_flops<T> * syrk_flops(c.rows(), a.columns()));
                   })
              .flops([](auto& a, auto& c) { return real_flops<T> * syrk_flops(c.rows(), a.columns()); })
              .emulated(),
          kernels, [&]<class Queue>() { return syrk_on<T, Queue>(kernels); })),
      gemm(update_codelet<T>(kernels, adjoint<T>)) {}

template <class T>
LuKernels<T>::LuKernels(const Kernels& kernels)
    : getrf(getrf_codelet<T>(kernels)),
      trsm_below(solve_codelet<T>(kernels, below_lu)),
      trsm_right(solve_codelet<T>(kernels, right_of_lu)),
      gemm(update_codelet<T>(kernels, Transpose::no)) {}

template <class T>
ProductKernels<T>::ProductKernels(const Kernels& kernels, T alpha, T beta)
    : set(with_device_bodies<T>(
          codelet("gemm")
              .cpu(body_of_type<T>,
                   [kernels, alpha](In<Tile> a, In<Tile> b, Out<Tile> c) {
                     product<T>(kernels, Transpose::no, Transpose::no, alpha, a, b, 0, c);
                   })
              .flops(product_task_flops<T>)
              .emulated(),
          kernels, [&]<class Queue>() { return product_on<T, Queue>(kernels, alpha); })),
      scale_and_add(product_codelet<T>("gemm", kernels, Transpose::no, Transpose::no, alpha, beta)
                        .flops(product_task_flops<T>)),
      add(product_codelet<T>("gemm", kernels, Transpose::no, Transpose::no, alpha, 1)
              .flops(product_task_flops<T>)) {}

template <class T>
LowerProductKernels<T>::LowerProductKernels(const Kernels& kernels)
    : multiply_lower(
          codelet("multiply_lower")
              .cpu(body_of_type<T>,
                   [kernels](In<Tile> l, InOut<Tile> x) {
                     kernels.blas().trmm<T>(Side::left, Triangle::lower, Transpose::no, Diagonal::general,
                                            x.rows(), x.columns(), 1, l.data(), l.leading_dimension(),
                                            x.data(), x.leading_dimension());
                     kernels.count(Kernel::trsm, real_flops<T> * trsm_flops(x.columns(), x.rows()));
                   })
              .emulated()) {}

template <class T>
SolveKernels<T>::SolveKernels(const Kernels& kernels, Factors factors)
    : solve_lower(triangle_codelet<T>("solve_lower", kernels, forward_solve(factors))),
      solve_upper(triangle_codelet<T>("solve_upper", kernels, backward_solve<T>(factors))),
      update_lower(product_codelet<T>("update_lower", kernels, Transpose::no, Transpose::no, -1, 1)),
      update_upper(product_codelet<T>("update_upper", kernels, backward_update_op<T>(factors), Transpose::no,
                                      -1, 1)) {}

#define FAIRLEAD_INSTANTIATE_KERNELS(T)   \
  template struct CholeskyKernels<T>;     \
  template struct LuKernels<T>;           \
  template struct ProductKernels<T>;      \
  template struct LowerProductKernels<T>; \
  template struct SolveKernels<T>;
FAIRLEAD_INSTANTIATE_KERNELS(float)
FAIRLEAD_INSTANTIATE_KERNELS(double)
FAIRLEAD_INSTANTIATE_KERNELS(std::complex<float>)
FAIRLEAD_INSTANTIATE_KERNELS(std::complex<double>)
#undef FAIRLEAD_INSTANTIATE_KERNELS

}  // namespace fairlead::linalg
