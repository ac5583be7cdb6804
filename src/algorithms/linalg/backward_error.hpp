// The residual and the normwise backward error of a computed solution. The matrix is read from its source, not from the
// factorization.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <fairlead/matrix_source.hpp>
#include "algorithms/linalg/scratch_pool.hpp"
#include "algorithms/linalg/wide_number.hpp"
#include "base/rundown_protection.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

class ScaledResidual;

/// The largest backward error that counts as correct, for n equations in T: 10 sqrt(n) roundings, but not more than 20
/// times the largest error of 2000 correct runs. That was 4.7 roundings for n up to 1600 and grows with sqrt(n)
/// (docs/solve.md). The bound therefore holds for any order of the sums, any BLAS and any tile. A complex product has up to
/// sqrt(8) roundings (Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 3.6).
template <class T>
double max_correct_backward_error(std::int64_t n) noexcept {
  const double root = std::sqrt(static_cast<double>(n));
  const double of_product = is_complex_number<T> ? std::sqrt(8.0) : 1;
  return std::min(10 * root, std::max(90.0, 2 * root)) * of_product * epsilon_of_scalar<T>;
}

/// Computes || b - A x || / (|| A || || x || + || b ||) in the infinity norm, the maximum over the columns of x (Rigal,
/// Gaches 1967). All computations are in double precision, whatever the type of x. They neither overflow nor underflow
/// if A, x and b are finite. || A || times T's smallest positive number is subtracted from the residual: the effect of
/// rounding an element of x to that number.
///
/// Each task reads some complete rows of A, so the matrix is read once, in order, and needs scratch memory only. A
/// source that prefers columns is read by columns and assumed to be symmetric, or Hermitian if it is complex.
///
/// Complex products are sums of products of real parts: a strip of A is split into real and imaginary parts, and each
/// column of x and of the residual is two real columns. Absolute values are those of complex numbers.
template <class T>
class BackwardError {
 public:
  using Wide = WideOf<T>;

  /// `x`: column-major, contiguous, as many rows as A has columns, `columns` columns; must stay valid and unchanged until
  /// the flow has been waited for. `residual`: if not null, receives b - A x, contiguous. It may be the memory of b: each
  /// row of b is read only by the task that writes this row.
  BackwardError(Kernels kernels, std::shared_ptr<const MatrixSource<Wide>> a,
                std::shared_ptr<const MatrixSource<Wide>> b, const T* x, std::int64_t columns,
                Wide* residual = nullptr);

  /// The scratch memory of one task, in bytes; at most one task per worker runs at a time.
  static std::size_t scratch_bytes_per_worker(std::int64_t n, std::int64_t columns) noexcept;
  /// The best number of columns for one object: memory use grows with the number of columns.
  static std::int64_t preferred_columns(std::int64_t n, std::int64_t columns) noexcept;
  std::uint64_t tasks() const noexcept;
  /// The memory of the object itself, in bytes, without scratch.
  static std::size_t bytes(std::int64_t n) noexcept;

  void submit(Flow& flow) { submit(flow, 0, 1); }
  /// Submits the share of this rank, of `ranks` ranks; combine_ranks() then combines the results. With `ranks` = 1,
  /// rank 0 reads the whole matrix.
  void submit(Flow& flow, std::uint32_t rank, std::uint32_t ranks);
  /// Everything on the calling thread, instead of tasks; combine_ranks() is not needed.
  void compute();
  /// Combines the results after the flow has been waited for: value() covers all ranks, and each rank has the whole
  /// residual.
  void combine_ranks(Runtime& runtime);
  /// The backward error; call it after the flow has been waited for. NaN if x contains a NaN or an infinity.
  double value() const;
  /// The infinity norm of A; infinite on overflow.
  double matrix_norm() const;

  // Inputs of the forward error bound, valid after combine_ranks(). Each is relative to the largest component of x in
  // its column; the maximum over the columns. Columns in which x and b are zero do not count. Infinite if x is zero and
  // b is not.

  /// An upper bound on |b - A x| for each row: the computed value plus the rounding error of computing it. |A^-1| times
  /// this bounds the error of x.
  std::vector<double> residual_bound() const;
  /// The same, each with the sign of the computed residual of the column where it is largest (of its real part): the
  /// weights of an inverse whose estimate then is not below the error that this residual causes.
  std::vector<double> directed_residual_bound() const;
  /// | A | | x | + | b | for each row. With several columns an upper bound: | A | times the maximum of each row of x.
  std::vector<double> magnitudes() const;

 private:
  struct Norms {
    WideNumber a;
    std::vector<WideNumber> residual, x, b;  // per column
  };
  void compute_rows(std::int64_t row, std::int64_t count);
  void compute_norms_of_x();
  struct RowsOfResidual;
  /// Columns of A per strip.
  std::int64_t strip_width() const noexcept;
  void subtract_strip(const RowsOfResidual& rows, const double* strip, std::int64_t column, int part) const;
  void bound_residual(std::int64_t row, const RowsOfResidual& rows, const std::vector<double>& magnitudes);
  double roundings_of_residual() const noexcept;
  /// The maximum row sum of |A| over `count` rows, for sums that overflow a double. `strip`: scratch memory.
  WideNumber norm_of_rows(std::int64_t row, std::int64_t count, Wide* strip) const;
  void merge(const Norms& part);

  Kernels kernels_;
  std::shared_ptr<const MatrixSource<Wide>> a_, b_;
  const T* x_;
  std::int64_t columns_;
  Wide* residual_;
  const std::int64_t band_;  // rows per task
  std::uint32_t ranks_ = 1;  // the number of ranks that compute
  ScratchPool scratch_;
  std::vector<double> magnitudes_of_x_;  // per row of x, relative to the norm of the column
  std::vector<double> norms_of_x_;       // per column
  // per row: the residual, with its sign; | A | | x | + | b |. Each task writes its own rows
  std::vector<double> residual_bounds_;
  mutable std::mutex mutex_;  // guards norms_
  Norms norms_;
  RundownProtection rundown_;  // last: tasks use all of the above
};

extern template class BackwardError<float>;
extern template class BackwardError<double>;
extern template class BackwardError<std::complex<float>>;
extern template class BackwardError<std::complex<double>>;

}  // namespace fairlead::linalg
