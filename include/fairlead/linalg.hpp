// Dense linear algebra on tiled matrices, in memory or out of core: Cholesky factorization and the solves
// that follow. The functions submit tasks and return; wait_for_results() tells how it went.
//
//   const auto kernels = fairlead::linalg::Kernels::load();
//   fairlead::linalg::cholesky(flow, kernels, a);           // a, lower: A becomes L with A = L L^T
//   fairlead::linalg::solve_factored(flow, kernels, a, b);  // b becomes x with A x = b
//   fairlead::linalg::wait_for_results(flow);
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace fairlead::linalg {

class Blas;

/// The BLAS and LAPACK that tasks call, each task on one thread, and a count of what has been done with it.
/// Copies share both.
class Kernels {
 public:
  explicit Kernels(std::shared_ptr<const Blas> blas);
  /// Loads a library by a name for the loader or a path; empty: the one that the system calls OpenBLAS. See
  /// Blas::load for what that sets and throws.
  static Kernels load(const std::string& library = {});

  const Blas& blas() const noexcept { return *blas_; }
  /// Floating-point operations of the tasks that are over; any thread may ask.
  double flops_done() const noexcept { return static_cast<double>(flops_->load(std::memory_order_relaxed)); }
  /// For bodies of tasks: what they have done.
  void count(double flops) const noexcept {
    flops_->fetch_add(static_cast<std::uint64_t>(flops), std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<const Blas> blas_;
  std::shared_ptr<std::atomic<std::uint64_t>> flops_;
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

/// Flow::wait(), but what the numbers do not allow is thrown as it is, a NumericalError, and not as a
/// TaskError around one; so are an InputError and a SystemError that a task met.
void wait_for_results(Flow& flow);

/// How many tasks cholesky() submits for so many tiles a side; likewise solve_factored() with so many columns
/// of tiles in b.
std::uint64_t cholesky_tasks(std::int64_t tiles) noexcept;
std::uint64_t solve_tasks(std::int64_t tiles, std::int64_t columns_of_tiles) noexcept;

extern template void cholesky<float>(Flow&, const Kernels&, const TiledMatrix<float>&);
extern template void cholesky<double>(Flow&, const Kernels&, const TiledMatrix<double>&);
extern template void solve_factored<float>(Flow&, const Kernels&, const TiledMatrix<float>&,
                                           const TiledMatrix<float>&);
extern template void solve_factored<double>(Flow&, const Kernels&, const TiledMatrix<double>&,
                                            const TiledMatrix<double>&);

}  // namespace fairlead::linalg
