// Dense linear algebra on tiled matrices, in memory or out of core: Cholesky and LU factorization, the solves
// that follow, and products. The functions submit tasks and return; wait_for_results() tells how it went.
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
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::linalg {

class Blas;
class CudaBlas;
class OpenclBlas;

/// What tasks compute, after the routines of BLAS, LAPACK and tiled algorithms.
enum class Kernel : std::uint8_t {
  gemm,
  syrk,
  trsm,
  potrf,
  getrf,  // of a tile: without pivoting in lu(), with it in factor_lu_incremental()
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

/// How often tasks have run one kernel, and what it computed.
struct KernelCount {
  std::uint64_t calls = 0;
  double flops = 0;
};
using KernelCounts = std::array<KernelCount, kernel_count>;  ///< by Kernel

/// The BLAS and LAPACK that tasks call, each task on one thread, and a count of what has been done with it.
/// Copies share both.
class Kernels {
 public:
  explicit Kernels(std::shared_ptr<const Blas> blas);
  /// Whose products tasks compute with: the library's, or Fairlead's own where the processor has AVX-512.
  enum class Products : std::uint8_t { of_library, own };
  /// Loads a library by a name for the loader or a path; empty: the one that the system calls OpenBLAS. See
  /// Blas::load for what that sets and throws.
  static Kernels load(const std::string& library = {}, Products products = Products::of_library);

  const Blas& blas() const noexcept { return *blas_; }
  /// What tasks compute with on OpenCL devices.
  const OpenclBlas& opencl() const noexcept { return *opencl_; }
  /// And on CUDA devices.
  const CudaBlas& cuda() const noexcept { return *cuda_; }
  /// Fairlead's own kernels for those are there, by which QR's tasks have bodies for them.
  bool has_cuda_kernels() const noexcept;
  /// With those of an image that nvcc made of src/algorithms/kernels elsewhere, in place of those in the library; empty: without.
  Kernels with_cuda_kernels(std::string_view image) const;
  bool has_own_products() const noexcept;  ///< where they were wanted and are possible
  /// The same, but on CUDA devices cuBLAS may round the factors of products of floats to TF32, which has 10 bits of mantissa in
  /// place of 23 and is a multiple as fast: in whatever is computed with these, factorizations for instance that a refinement
  /// follows which has others. It has no effect on doubles, nor anywhere else.
  Kernels in_tf32() const;
  bool are_in_tf32() const noexcept;
  /// How often these, or copies of these, have called cuBLAS so.
  std::uint64_t calls_in_tf32() const noexcept;
  /// Of the tasks that are over; any thread may ask.
  KernelCounts counts() const noexcept;
  /// Floating-point operations of all kernels.
  double flops_done() const noexcept;
  /// For bodies of tasks: what they have done.
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

// T is float or double below.

/// Factors a symmetric positive definite matrix in place: its lower triangle becomes L with A = L L^T. Only
/// tiles on and below the diagonal are used, and of those on the diagonal the lower triangle. Right-looking;
/// priorities are the longest paths to the end, in tasks. If A is not positive definite, the task that finds
/// out fails with a NumericalError that names the column.
/// Throws UsageError if the matrix is not square.
template <class T>
void cholesky(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a);

/// b := A^-1 b for the L that cholesky() made, by two triangular solves. b has as many rows as L, in tiles of
/// the same side, and any number of columns. Throws UsageError if the shapes do not match.
template <class T>
void solve_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& l, const TiledMatrix<T>& b);

/// Both: b := A^-1 b, and A becomes L.
template <class T>
void solve(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a, const TiledMatrix<T>& b) {
  cholesky(flow, kernels, a);
  solve_factored(flow, kernels, a, b);
}

/// Factors a square matrix in place without pivoting: A = L U, where L has ones on the diagonal, which are
/// not kept. As accurate as with pivoting where the diagonal dominates, or the matrix is positive definite;
/// elsewhere elements may grow without bound, so judge the result. Right-looking, with the priorities of
/// cholesky(). The task that meets a pivot that is zero or not finite fails with a NumericalError that names
/// the column. Throws UsageError if the matrix is not square.
template <class T>
void lu(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& a);

/// b := A^-1 b for the factors that lu() made, by two triangular solves; b as in solve_factored().
template <class T>
void solve_lu_factored(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& lu, const TiledMatrix<T>& b);

/// b := A^-T b for the same factors.
template <class T>
void solve_lu_transposed(Flow& flow, const Kernels& kernels, const TiledMatrix<T>& lu,
                         const TiledMatrix<T>& b);

/// C := alpha A B + beta C for C of m x n and A of m x k; with beta = 0 nothing need be in C. Tile by tile
/// of C, the products one after the other. Throws UsageError if the shapes or the sides of the tiles do not
/// match.
template <class T>
void multiply(Flow& flow, const Kernels& kernels, T alpha, const TiledMatrix<T>& a, const TiledMatrix<T>& b,
              T beta, const TiledMatrix<T>& c);

/// Flow::wait(), but what the numbers do not allow is thrown as it is, a NumericalError, and not as a
/// TaskError around one; so are an InputError and a SystemError that a task met.
void wait_for_results(Flow& flow);

/// How many tasks cholesky() and lu() submit for so many tiles a side; likewise the solves with so many
/// columns of tiles in b.
std::uint64_t cholesky_tasks(std::int64_t tiles) noexcept;
std::uint64_t lu_tasks(std::int64_t tiles) noexcept;
std::uint64_t solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept;

extern template void cholesky<float>(Flow&, const Kernels&, const TiledMatrix<float>&);
extern template void solve_factored<float>(Flow&, const Kernels&, const TiledMatrix<float>&,
                                           const TiledMatrix<float>&);
extern template void lu<float>(Flow&, const Kernels&, const TiledMatrix<float>&);
extern template void solve_lu_factored<float>(Flow&, const Kernels&, const TiledMatrix<float>&,
                                              const TiledMatrix<float>&);
extern template void solve_lu_transposed<float>(Flow&, const Kernels&, const TiledMatrix<float>&,
                                                const TiledMatrix<float>&);
extern template void multiply<float>(Flow&, const Kernels&, float, const TiledMatrix<float>&,
                                     const TiledMatrix<float>&, float, const TiledMatrix<float>&);
extern template void cholesky<double>(Flow&, const Kernels&, const TiledMatrix<double>&);
extern template void solve_factored<double>(Flow&, const Kernels&, const TiledMatrix<double>&,
                                            const TiledMatrix<double>&);
extern template void lu<double>(Flow&, const Kernels&, const TiledMatrix<double>&);
extern template void solve_lu_factored<double>(Flow&, const Kernels&, const TiledMatrix<double>&,
                                               const TiledMatrix<double>&);
extern template void solve_lu_transposed<double>(Flow&, const Kernels&, const TiledMatrix<double>&,
                                                 const TiledMatrix<double>&);
extern template void multiply<double>(Flow&, const Kernels&, double, const TiledMatrix<double>&,
                                      const TiledMatrix<double>&, double, const TiledMatrix<double>&);

}  // namespace fairlead::linalg
