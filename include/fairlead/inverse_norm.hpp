// Condition estimation: || A^-1 || in the infinity norm, estimated from existing factors. Times || A ||, this is the
// condition number: the factor by which a relative change of A or b may grow in the solution.
//
// Hager 1984 ("Condition estimates") and Higham, Tisseur 2000 ("A block algorithm for matrix 1-norm estimation"), as in
// LAPACK's xPOCON and xLACN2, but with several vectors at once. The first step applies A^-1 to vectors of 1 and -1 and
// finds the rows with the largest results. The second step computes these rows of A^-1 exactly, as columns of A^-H. The
// estimate is the largest norm of these rows, which never exceeds the norm of the inverse that is applied. The factors
// are those of A + E, not of A, so the estimate may exceed || A^-1 || by the factor 1 / (1 - || A^-1 E ||). This factor
// is large if elements have grown, or if A is nearly singular. For a symmetric matrix the estimate is that of the
// 1-norm as well; so it is for a Hermitian matrix.
//
// With weights w it also estimates || A^-1 diag(w) ||, in the same sweeps. If w is the uncertainty of the residual in
// each row, this bounds the error of the solution (LAPACK's xPORFS, xGERFS).
//
//   fairlead::linalg::InverseNorm<double> inverse(runtime, kernels, l);  // after cholesky()
//   while (!inverse.done()) {
//     inverse.submit(flow);
//     fairlead::linalg::wait_for_results(flow);
//     inverse.combine_ranks();  // with several ranks
//   }
//   const double condition = matrix_norm * inverse.value();
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace fairlead::linalg {

/// Functions that apply A^-1 (plain) and A^-H (transposed) in place to the columns of a matrix with n rows, in tiles. A^H
/// is the transposed matrix with conjugate elements; of a real matrix it is A^T.
template <class T>
struct AppliedInverse {
  std::function<void(Flow&, const TiledMatrix<T>&b)> plain, transposed;
  /// The number of tasks of the larger of the two for this many columns of tiles.
  std::function<std::uint64_t(std::int64_t columns_of_tiles)> tasks;
};

/// A row of A^-1 that the second step has computed.
struct RowOfInverse {
  std::int64_t row;
  double sum;           ///< the sum of the absolute values of its elements
  double weighted_sum;  ///< the same, each times its weight
  double diagonal;      ///< the absolute value of its diagonal element
};

template <class T>
class InverseNorm {
 public:
  /// `l`: the result of cholesky(), lower tiles; it must outlive this object. Throws UsageError if it is not square.
  /// `weights`: for weighted_value(), one number per row; empty: no weights. If some are negative, the vector with their
  /// signs is one of those that are tried: with the signs of a residual, the estimate is not below the error that this
  /// residual causes.
  InverseNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& l, std::vector<double> weights = {});
  /// For any n x n matrix whose inverse can be applied to tiles of this side. Everything that `inverse` refers to must
  /// outlive this object.
  InverseNorm(Runtime& runtime, std::int64_t n, std::int32_t tile, AppliedInverse<T> inverse,
              std::vector<double> weights = {});
  InverseNorm(const InverseNorm&) = delete;
  InverseNorm& operator=(const InverseNorm&) = delete;
  ~InverseNorm();

  /// The memory that this object needs in addition to the tiles of the factor.
  static std::size_t bytes(std::int64_t n, bool weighted = false) noexcept;

  /// Each step sweeps over the factor twice: forward and backward.
  static constexpr int steps = 2, sweeps_per_step = 2;
  int steps_done() const noexcept;
  bool done() const noexcept { return steps_done() == steps; }

  /// Submits a step. Wait for the flow before the next step. Throws UsageError if no step is left.
  void submit(Flow& flow);
  /// Collective: with several ranks all call it after each step, after waiting for the flow, to combine their results.
  /// Does nothing with one rank.
  void combine_ranks();
  /// The number of tasks of a step.
  std::uint64_t tasks() const noexcept;

  /// The estimate so far, after waiting for the flow: a lower bound. Not finite if the results overflow the factor's
  /// type.
  double value() const;

  // Valid after the last step and combine_ranks():

  /// The estimate of || A^-1 diag(w) || in the infinity norm: the largest weighted sum of rows(). Infinite if there are
  /// no weights, or if a row is not finite.
  double weighted_value() const;
  /// The rows that were computed.
  std::vector<RowOfInverse> rows() const;
  /// The elements of these rows, one column for each row; of complex ones the conjugates. Collective: all ranks call it.
  std::vector<T> elements() const;
  /// For each component of A^-1 diag(w) s, its largest value over the sign vectors s used, with the weights scaled to a
  /// maximum of 1.
  const std::vector<double>& weighted_row_maxima() const noexcept;

  // For programs that solve with the same factor anyway: begin(), then solve for vectors() together with the right-hand
  // sides, then end(). The step then needs no sweep of its own.

  void submit_vectors(Flow& flow);
  const TiledMatrix<T>& vectors() const noexcept;
  void submit_evaluation(Flow& flow);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

extern template class InverseNorm<float>;
extern template class InverseNorm<double>;
extern template class InverseNorm<std::complex<float>>;
extern template class InverseNorm<std::complex<double>>;

}  // namespace fairlead::linalg
