// Dense linear algebra on tiled matrices, in core or out of core: Cholesky and LU factorizations, solves and products.
// The functions submit tasks and return; wait_for_results() waits and reports errors.
//
//   const auto kernels = fairlead::linalg::Kernels::load();
//   fairlead::linalg::cholesky(flow, kernels, a);           // a, lower: A becomes L with A = L L^T
//   fairlead::linalg::solve_factored(flow, kernels, a, b);  // b becomes x with A x = b
//   fairlead::linalg::wait_for_results(flow);
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::linalg {

class Blas;
class CudaBlas;
class OpenclBlas;

/// The kernels of tasks, named after the routines of BLAS, LAPACK and tiled algorithms.
enum class Kernel : std::uint8_t {
  gemm,
  syrk,
  trsm,
  potrf,
  getrf,  // without pivoting on a tile in lu(), with pivoting on a tile or a panel in other factorizations
  geqrt,
  unmqr,
  tsqrt,
  tsmqr,
  ttqrt,
  ttmqr,
  gessm,
  tstrf,
  ssssm,
};
inline constexpr std::size_t kernel_count = 14;
std::string_view name_of(Kernel kernel) noexcept;

/// The number of calls of one kernel and their floating-point operations.
struct KernelCount {
  std::uint64_t calls = 0;
  double flops = 0;
};
using KernelCounts = std::array<KernelCount, kernel_count>;  ///< by Kernel

/// The BLAS and LAPACK that tasks call, one thread per task, and the counters of these calls. Copies share both.
class Kernels {
 public:
  explicit Kernels(std::shared_ptr<const Blas> blas);
  /// Which matrix products tasks use: the library's, or Fairlead's own if the processor has AVX-512.
  enum class Products : std::uint8_t { of_library, own };
  /// Loads a library by name or path; empty: OpenBLAS, or another that is installed (docs/blas.md). Sets the library to
  /// one thread, for the whole process.
  /// Throws SystemError if it cannot be loaded, lacks a routine, or has 64-bit integers.
  static Kernels load(const std::string& library = {}, Products products = Products::of_library);

  const Blas& blas() const noexcept { return *blas_; }
  /// The BLAS for OpenCL devices.
  const OpenclBlas& opencl() const noexcept { return *opencl_; }
  /// The BLAS for CUDA devices.
  const CudaBlas& cuda() const noexcept { return *cuda_; }
  /// True if Fairlead's own CUDA kernels are available, which give the tasks of QR bodies for CUDA devices.
  bool has_cuda_kernels() const noexcept;
  /// A copy that uses the kernels of this image, compiled separately by nvcc from src/algorithms/kernels, instead of
  /// those in the library; empty: no own kernels.
  Kernels with_cuda_kernels(std::string_view image) const;
  bool has_own_products() const noexcept;  ///< true if requested and supported by the processor
  /// A copy that allows cuBLAS on CUDA devices to round the factors of single-precision products to TF32: 10 instead of
  /// 23 bits of mantissa, and several times faster. It applies to everything computed with the copy; a typical use is a
  /// factorization that a refinement with the original kernels follows. It does not affect double precision or other
  /// devices.
  Kernels in_tf32() const;
  bool are_in_tf32() const noexcept;
  /// The number of TF32 calls to cuBLAS by this object and its copies.
  std::uint64_t calls_in_tf32() const noexcept;
  /// The counters of finished tasks. Thread-safe.
  KernelCounts counts() const noexcept;
  /// Floating-point operations of all kernels.
  double flops_done() const noexcept;
  /// Called by the bodies of tasks: adds one call.
  void count(Kernel kernel, double flops) const noexcept {
    Counter& counter = (*counters_)[static_cast<std::size_t>(kernel)];
    counter.calls.fetch_add(1, std::memory_order_relaxed);
    counter.flops.fetch_add(static_cast<std::uint64_t>(flops), std::memory_order_relaxed);
  }

 private:
  struct Counter {
    std::atomic<std::uint64_t> calls = 0, flops = 0;
  };
  std::shared_ptr<const Blas> blas_;
  std::shared_ptr<const OpenclBlas> opencl_;
  std::shared_ptr<const CudaBlas> cuda_;
  std::shared_ptr<std::array<Counter, kernel_count>> counters_;
};

// Below, T is float, double or a complex number of these; of multiply() it is float or double. A^H is the transposed
// matrix with conjugate elements: for real matrices A^T.

/// Factors a symmetric or Hermitian positive definite matrix in place: its lower triangle becomes L with A = L L^H. Uses
/// only the tiles on and below the diagonal, and only the lower triangle of diagonal tiles, without the imaginary parts of
/// the diagonal. Right-looking; the priority of a task is the length of the longest path to the end, in tasks. If A is not
/// positive definite, the task that detects this fails with a NumericalError that names the column. Throws UsageError if
/// the matrix is not square.
template <class T>
void cholesky(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a);

/// b := A^-1 b by two triangular solves, for the L of cholesky(). b has as many rows as L, in tiles of the same side,
/// and any number of columns. Throws UsageError if the shapes do not match.
template <class T>
void solve_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& l, const TiledMatrix<T>& b);

/// Factors and solves: A becomes L, and b := A^-1 b.
template <class T>
void solve(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const TiledMatrix<T>& b) {
  cholesky(flow, kernels, a);
  solve_factored(flow, kernels, a, b);
}

/// Factors a square matrix in place without pivoting: A = L U; the unit diagonal of L is not stored. As accurate as
/// with pivoting if A is diagonally dominant or positive definite. For other matrices element growth is unbounded, so
/// check the result. Right-looking, with the priorities of cholesky(). A task that finds a pivot that is zero or not
/// finite fails with a NumericalError that names the column. Throws UsageError if the matrix is not square.
template <class T>
void lu(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a);

/// b := A^-1 b by two triangular solves, for the factors of lu(). Requirements on b as for solve_factored().
template <class T>
void solve_lu_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& lu, const TiledMatrix<T>& b);

/// b := A^-H b, for the same factors.
template <class T>
void solve_lu_transposed(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& lu,
                         const TiledMatrix<T>& b);

/// C := alpha A B + beta C for an m x n matrix C and an m x k matrix A. With beta = 0 the old values of C are not read.
/// The products of each tile of C are submitted consecutively and run one after the other. Throws UsageError if the
/// shapes or the tile sides do not match.
template <class T>
void multiply(Flow& flow, const Kernels& kernels, T alpha, const TiledMatrix<T>& a, const TiledMatrix<T>& b,
              T beta, const TiledMatrix<T>& c);

/// Like Flow::wait(), but throws a NumericalError, InputError or SystemError of a task as such, not nested in a
/// TaskError.
void wait_for_results(Flow& flow);

/// The number of tasks that cholesky() and lu() submit for this many tiles per side; and that the solves submit for
/// this many columns of tiles in b.
std::uint64_t cholesky_tasks(std::int64_t tiles) noexcept;
std::uint64_t lu_tasks(std::int64_t tiles) noexcept;
std::uint64_t solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept;

#define FAIRLEAD_LINALG_OF(T)                                                               \
  extern template void cholesky<T>(Flow&, const Kernels&, const TiledMatrix<T>&);           \
  extern template void solve_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,      \
                                         const TiledMatrix<T>&);                            \
  extern template void lu<T>(Flow&, const Kernels&, const TiledMatrix<T>&);                 \
  extern template void solve_lu_factored<T>(Flow&, const Kernels&, const TiledMatrix<T>&,   \
                                            const TiledMatrix<T>&);                         \
  extern template void solve_lu_transposed<T>(Flow&, const Kernels&, const TiledMatrix<T>&, \
                                              const TiledMatrix<T>&);
FAIRLEAD_LINALG_OF(float)
FAIRLEAD_LINALG_OF(double)
FAIRLEAD_LINALG_OF(std::complex<float>)
FAIRLEAD_LINALG_OF(std::complex<double>)
#undef FAIRLEAD_LINALG_OF
extern template void multiply<float>(Flow&, const Kernels&, float, const TiledMatrix<float>&,
                                     const TiledMatrix<float>&, float, const TiledMatrix<float>&);
extern template void multiply<double>(Flow&, const Kernels&, double, const TiledMatrix<double>&,
                                      const TiledMatrix<double>&, double, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
