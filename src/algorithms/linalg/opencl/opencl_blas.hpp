// Kernels of tiled linear algebra on OpenCL devices. Products are CLBlast's. Solves and syrk consist of products and of
// two small kernels of Fairlead's own, which need no additional memory. CLBlast's own solve inverts diagonal blocks,
// which loses accuracy if they are ill-conditioned (panel_solve.hpp); its solve and syrk also allocate memory outside
// the memory limit.
#pragma once
#include <fairlead/opencl.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/opencl/clblast.hpp"

namespace fairlead::linalg {

/// A column-major matrix on a device.
struct OpenclMatrix {
  OpenclBuffer buffer;  ///< offset in elements
  std::size_t ld = 0;   ///< distance between columns, in elements
  OpenclMatrix from(std::size_t row, std::size_t column) const noexcept {
    return {{buffer.memory, buffer.offset + row + column * ld}, ld};
  }
};

/// Thread-safe, with one queue per thread. CLBlast is loaded with the first product. Errors of loading and of the
/// device are SystemErrors.
class OpenclBlas {
 public:
  OpenclBlas();

  /// C := alpha op(A) op(B) + beta C, where C is m x n and the inner dimension is k. Split into smaller products if
  /// CLBlast needs more memory than the queue's workspace.
  template <Real T>
  void gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
            std::size_t k, T alpha, const OpenclMatrix& a, const OpenclMatrix& b, T beta,
            const OpenclMatrix& c) const;

  /// C := C - A A^T, the lower triangle of n x n; A is n x k.
  template <Real T>
  void syrk_lower(const OpenclQueue& queue, std::size_t n, std::size_t k, const OpenclMatrix& a,
                  const OpenclMatrix& c) const;

  /// Solves for an m x n matrix A, as panel_solve() does.
  template <Real T>
  void solve(const OpenclQueue& queue, const TriangularSolve& how, std::size_t m, std::size_t n,
             const OpenclMatrix& t, const OpenclMatrix& a) const;

 private:
  struct CudaKernels {
    OpenclKernel solve, triangle;
  };
  static CudaKernels make_kernels(bool doubles);
  template <class T>
  const CudaKernels& own() const noexcept {
    if constexpr (std::is_same_v<T, double>) return double_;
    if constexpr (std::is_same_v<T, float>) return float_;
  }
  const Clblast& clblast(const OpenclQueue& queue) const;

  const CudaKernels double_, float_;
  mutable std::once_flag loaded_;
  mutable std::optional<Clblast> clblast_;
};

}  // namespace fairlead::linalg
