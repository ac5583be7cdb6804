// Kernels of tiled linear algebra on CUDA devices: cuBLAS's products and solves and cuSOLVER's factorizations of a
// tile, in a task's stream and workspace. Both libraries are loaded at first use, so programs without CUDA devices do
// not need them.
#pragma once
#include <fairlead/cuda.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <type_traits>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/cuda/libraries.hpp"
#include "algorithms/linalg/cuda/own_kernels.hpp"

namespace fairlead::linalg {

/// A tile on the device.
template <class View>
auto cuda_matrix(const View& tile) {
  using T = std::remove_const_t<std::remove_pointer_t<decltype(tile.data())>>;
  return CudaMatrix<T>{const_cast<T*>(tile.data()), static_cast<std::size_t>(tile.leading_dimension())};
}

struct Pieces;

/// Thread-safe, with one stream per thread. Errors of loading and of the device are SystemErrors.
class CudaBlas {
 public:
  using Math = Cublas::Math;
  explicit CudaBlas(CudaKernels own = CudaKernels(embedded_cuda_kernels()), Math math = Math::full)
      : own_(std::move(own)), math_(math) {}
  const CudaKernels& own() const noexcept { return own_; }

  /// The precision of products and solves of floats.
  Math math() const noexcept { return math_; }
  std::uint64_t calls_in_tf32() const noexcept { return calls_in_tf32_.load(); }

  /// C := alpha op(A) op(B) + beta C, where C is m x n and the inner dimension is k.
  template <Real T>
  void gemm(const CudaStream& stream, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
            std::size_t k, T alpha, const CudaMatrix<T>& a, const CudaMatrix<T>& b, T beta,
            const CudaMatrix<T>& c) const;

  /// C := C - A A^T, the lower triangle of n x n; A is n x k.
  template <Real T>
  void syrk_lower(const CudaStream& stream, std::size_t n, std::size_t k, const CudaMatrix<T>& a,
                  const CudaMatrix<T>& c) const;

  /// C := op(T) B, of m x n; C may be B.
  template <Real T>
  void trmm(const CudaStream& stream, Triangle triangle, Transpose op, Diagonal diagonal, std::size_t m,
            std::size_t n, const CudaMatrix<T>& t, const CudaMatrix<T>& b, const CudaMatrix<T>& c) const;

  /// Solves for an m x n matrix A, as panel_solve() does; also for solves that do not go forward.
  template <Real T>
  void solve(const CudaStream& stream, const TriangularSolve& how, std::size_t m, std::size_t n,
             const CudaMatrix<T>& t, const CudaMatrix<T>& a) const;

  /// Cholesky factorization of the lower triangle of n x n. `over` is called with LAPACK's info when the device has
  /// finished. If cuSOLVER needs more memory than the stream's workspace, the matrix is factored in parts.
  template <Real T>
  void potrf_lower(const CudaStream& stream, std::size_t n, const CudaMatrix<T>& a,
                   std::function<void(int info)> over) const;

  /// A = L U in place, n x n, without pivoting, like unpivoted_lu(); `over` and parts as above.
  template <Real T>
  void unpivoted_lu(const CudaStream& stream, std::size_t n, const CudaMatrix<T>& a,
                    std::function<void(int info)> over) const;

 private:
  enum class Factor : std::uint8_t { cholesky, lu };
  template <Real T>
  void factor(const CudaStream& stream, Factor kind, std::size_t n, const CudaMatrix<T>& a, std::size_t first,
              Pieces& pieces) const;
  static void report_info_when_done(const CudaStream& stream, const char* routine, const Pieces& pieces,
                                    std::function<void(int info)> over);
  template <Real T>
  cublasContext* handle(const CudaStream& stream) const;
  const Cublas& cublas() const;
  const Cusolver& cusolver() const;

  const CudaKernels own_;
  const Math math_;
  mutable std::atomic<std::uint64_t> calls_in_tf32_ = 0;
  mutable std::once_flag cublas_loaded_, cusolver_loaded_;
  mutable std::optional<Cublas> cublas_;
  mutable std::optional<Cusolver> cusolver_;
};

}  // namespace fairlead::linalg
