// How good a solution is: the residual and the normwise backward error, from the matrix as its source has it,
// not from what is left of it after the factorization.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <fairlead/matrix_source.hpp>
#include "algorithms/linalg/scratch_pool.hpp"
#include "algorithms/linalg/wide_number.hpp"

namespace fairlead::linalg {

class ScaledResidual;

/// What the backward error of a right solution of n equations in T is never above: 10 sqrt(n) roundings, and
/// not more than 20 times the largest of 2000 right runs, which was 4.7 roundings for n up to 1600 and grows
/// with sqrt(n) (docs/solve.md). So no order of the sums, no BLAS and no tile makes a difference.
template <class T>
double largest_right_error(std::int64_t n) noexcept {
  const double root = std::sqrt(static_cast<double>(n));
  return std::min(10 * root, std::max(90.0, 2 * root)) *
         static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// || b - A x || / (|| A || || x || + || b ||) in the infinity norm, the largest over the columns of x:
/// Rigal, Gaches 1967. Everything is computed in double precision, whatever the type of x, and nothing overflows
/// or vanishes where A, x and b are finite. What rounding a number of x to the smallest one of T makes of the
/// residual is left out: || A || times that number.
///
/// Each task reads some rows of A whole: the matrix is read once, in order, and needs no memory but
/// scratch. A source that prefers columns is read by columns and taken for symmetric.
template <class T>
class BackwardError {
 public:
  /// `x`: column-major in memory, as many rows as A, `columns` columns one after the other; it must stay
  /// until the flow has been waited for, and not change. `residual`: if not null, b - A x is left there,
  /// laid out as x; each task writes the rows that it alone reads of b, which may be the same memory.
  BackwardError(Kernels kernels, std::shared_ptr<const MatrixSource<double>> a,
                std::shared_ptr<const MatrixSource<double>> b, const T* x, std::int64_t columns,
                double* residual = nullptr);

  /// What one task takes of memory besides; as many as there are workers run at once.
  static std::size_t scratch_bytes_per_worker(std::int64_t n, std::int64_t columns) noexcept;
  /// Of very many columns only so many should be judged at once: what it takes of memory grows with them.
  static std::int64_t columns_at_best(std::int64_t n, std::int64_t columns) noexcept;
  static std::uint64_t tasks(std::int64_t n) noexcept;
  /// What the object takes of memory besides.
  static std::size_t bytes(std::int64_t n) noexcept;

  void submit(Flow& flow) { submit(flow, 0, 1); }
  /// Over ranks: of so many the part of this one, which all then bring together. Of one it is rank 0 that reads everything.
  void submit(Flow& flow, std::uint32_t rank, std::uint32_t ranks);
  /// Once the flow has been waited for: value() is that of all ranks, and each has the whole residual.
  void bring_together(Runtime& runtime);
  /// The error, once the flow has been waited for. NaN if x holds one, or an infinity.
  double value() const;
  /// || A || in the infinity norm; infinite where it is too large.
  double matrix_norm() const;

  // For the forward error: each component relative to the largest component of x in its column, the largest over the
  // columns; columns in which x and b are zero do not count. Infinite where x is zero and b is not. Valid after
  // bring_together().

  /// How large b - A x may be in each row: as computed, and what rounding may have changed in that. Times | A^-1 |, that
  /// bounds the error of x.
  std::vector<double> uncertain_residual() const;
  /// | A | | x | + | b | in each row, or somewhat more if there are several columns: | A | times the largest of each row of x.
  std::vector<double> sizes() const;

 private:
  struct Norms {
    WideNumber a;
    std::vector<WideNumber> residual, x, b;  // of each column
  };
  void judge_rows(std::int64_t row, std::int64_t count);
  void measure_solution();
  void weigh(std::int64_t row, std::int64_t count, const ScaledResidual& residual,
             const std::vector<double>& sizes);
  double roundings_of_residual() const noexcept;
  /// The largest sum of so many rows of A, where sums overflow. `strip`: scratch memory.
  WideNumber norm_of_rows(std::int64_t row, std::int64_t count, double* strip) const;
  void merge(const Norms& part);

  Kernels kernels_;
  std::shared_ptr<const MatrixSource<double>> a_, b_;
  const T* x_;
  std::int64_t columns_;
  double* residual_;
  std::uint32_t ranks_ = 1;  // that have parts
  ScratchPool scratch_;
  std::vector<double> sizes_of_x_;  // of each row, relative to the norm of its column
  std::vector<double> norms_of_x_;  // of each column
  std::vector<double> weights_;  // of each row: the residual; | A | | x | + | b |. Each task writes its rows
  mutable std::mutex mutex_;     // guards norms_
  Norms norms_;
};

extern template class BackwardError<float>;
extern template class BackwardError<double>;

}  // namespace fairlead::linalg
