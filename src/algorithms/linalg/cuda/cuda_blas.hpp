// What tasks of tiled linear algebra compute on CUDA devices: cuBLAS's products and solves and cuSOLVER's
// factorizations of a tile, in the stream and its workspace. Both libraries are looked for when they are first needed: a
// program that uses no CUDA device needs none.
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

/// A tile there.
template <class View>
auto cuda_matrix(const View& tile) {
  using T = std::remove_const_t<std::remove_pointer_t<decltype(tile.data())>>;
  return CudaMatrix<T>{const_cast<T*>(tile.data()), static_cast<std::size_t>(tile.leading_dimension())};
}

struct Pieces;

/// Any thread, each with a stream of its own. What loading throws, and what the device says, is a SystemError.
class CudaBlas {
 public:
  using Math = Cublas::Math;
  explicit CudaBlas(OwnKernels own = OwnKernels(embedded_cuda_kernels()), Math math = Math::full)
      : own_(std::move(own)), math_(math) {}
  const OwnKernels& own() const noexcept { return own_; }

  /// Of products and solves of floats.
  Math math() const noexcept { return math_; }
  std::uint64_t calls_in_tf32() const noexcept { return calls_in_tf32_.load(); }

  /// C := alpha op(A) op(B) + beta C, where C is m x n and the inner dimension k.
  template <Real T>
  void gemm(const CudaStream& stream, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
            std::size_t k, T alpha, const CudaMatrix<T>& a, const CudaMatrix<T>& b, T beta,
            const CudaMatrix<T>& c) const;

  /// C := C - A A^T, the lower triangle of n x n; A is n x k.
  template <Real T>
  void syrk_lower(const CudaStream& stream, std::size_t n, std::size_t k, const CudaMatrix<T>& a,
                  const CudaMatrix<T>& c) const;

  /// C := op(T) B, of m x n, which may be the same matrix.
  template <Real T>
  void trmm(const CudaStream& stream, Triangle triangle, Transpose op, Diagonal diagonal, std::size_t m,
            std::size_t n, const CudaMatrix<T>& t, const CudaMatrix<T>& b, const CudaMatrix<T>& c) const;

  /// Solves for an m x n matrix A, as panel_solve() does, and in the other order.
  template <Real T>
  void solve(const CudaStream& stream, const TriangularSolve& how, std::size_t m, std::size_t n,
             const CudaMatrix<T>& t, const CudaMatrix<T>& a) const;

  /// Factors the lower triangle of n x n. When the device has done it, `over` is told LAPACK's info. In pieces, if what
  /// cuSOLVER takes for the whole is more than the stream's workspace.
  template <Real T>
  void potrf_lower(const CudaStream& stream, std::size_t n, const CudaMatrix<T>& a,
                   std::function<void(int info)> over) const;

  /// A = L U in place, n x n, without pivoting, as unpivoted_lu() does; `over` and pieces as above.
  template <Real T>
  void unpivoted_lu(const CudaStream& stream, std::size_t n, const CudaMatrix<T>& a,
                    std::function<void(int info)> over) const;

 private:
  enum class Factor : std::uint8_t { cholesky, lu };
  template <Real T>
  void factor(const CudaStream& stream, Factor kind, std::size_t n, const CudaMatrix<T>& a, std::size_t first,
              Pieces& pieces) const;
  static void tell_when_over(const CudaStream& stream, const char* routine, const Pieces& pieces,
                             std::function<void(int info)> over);
  template <Real T>
  cublasContext* handle(const CudaStream& stream) const;
  const Cublas& cublas() const;
  const Cusolver& cusolver() const;

  const OwnKernels own_;
  const Math math_;
  mutable std::atomic<std::uint64_t> calls_in_tf32_ = 0;
  mutable std::once_flag cublas_loaded_, cusolver_loaded_;
  mutable std::optional<Cublas> cublas_;
  mutable std::optional<Cusolver> cusolver_;
};

}  // namespace fairlead::linalg
