// How ill-conditioned a system is: || A^-1 || in the infinity norm, estimated from the factors that are there
// anyway. Times || A ||, that is the condition number: by how much a relative change of A or b may
// grow in the solution.
//
// Hager 1984 ("Condition estimates") and Higham, Tisseur 2000 ("A block algorithm for matrix 1-norm
// estimation"), as xPOCON and xLACN2 of LAPACK, but with several vectors at once: a first step applies A^-1 to
// vectors of 1 and -1 and looks where the results are largest; a second one computes those rows of A^-1 whole,
// as columns of A^-T. The estimate is the norm of the largest: never above that of the inverse that is applied. The factors are
// those of A + E, not of A: so it may exceed || A^-1 || by the factor 1 / (1 - || A^-1 E ||), which is large where
// elements have grown or A is close to singular. Of a symmetric matrix it is the one norm as well.
//
// With weights it also estimates || A^-1 diag(w) ||, in the same sweeps: where w is how uncertain the residual is in
// each row, that bounds the error of the solution (xPORFS, xGERFS of LAPACK).
//
//   fairlead::linalg::InverseNorm<double> inverse(runtime, kernels, l);  // after cholesky()
//   while (!inverse.done()) {
//     inverse.submit(flow);
//     fairlead::linalg::wait_for_results(flow);
//     inverse.bring_together();  // over ranks
//   }
//   const double condition = matrix_norm * inverse.value();
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace fairlead::linalg {

/// How A^-1 and A^-T are applied in place to the columns of a matrix with n rows, in tiles.
template <class T>
struct AppliedInverse {
  std::function<void(Flow&, const TiledMatrix<T>&b)> plain, transposed;
  /// How many tasks the larger of them is for so many columns of tiles.
  std::function<std::uint64_t(std::int64_t columns_of_tiles)> tasks;
};

/// A row of A^-1 that the second step has computed.
struct RowOfInverse {
  std::int64_t row;
  double sum;           ///< of the sizes of its elements
  double weighted_sum;  ///< the same, each times the weight
  double diagonal;      ///< the size of its element on the diagonal
};

template <class T>
class InverseNorm {
 public:
  /// `l`: what cholesky() made, lower tiles. It must stay. Throws UsageError if it is not square.
  /// `weights`: for weighted_value(), one for each row, not negative; empty: there is none.
  InverseNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& l, std::vector<double> weights = {});
  /// Of any n x n matrix whose inverse can be applied, to tiles of this side. What `inverse` refers to must
  /// stay.
  InverseNorm(Runtime& runtime, std::int64_t n, std::int32_t tile, AppliedInverse<T> inverse,
              std::vector<double> weights = {});
  InverseNorm(const InverseNorm&) = delete;
  InverseNorm& operator=(const InverseNorm&) = delete;
  ~InverseNorm();

  /// What this takes of memory besides the tiles of the factor.
  static std::size_t bytes(std::int64_t n, bool weighted = false) noexcept;

  /// Each step goes over the factor twice: forward and backward.
  static constexpr int steps = 2, sweeps_per_step = 2;
  int steps_done() const noexcept;
  bool done() const noexcept { return steps_done() == steps; }

  /// A step; the flow is to be waited for before the next. Throws UsageError if there is none left.
  void submit(Flow& flow);
  /// After each step, once the flow has been waited for: over ranks all call it, and know then what each has seen. Alone
  /// it does nothing.
  void bring_together();
  /// How many tasks that is.
  std::uint64_t tasks() const noexcept;

  /// The estimate so far, once the flow has been waited for: a lower bound. Not finite if the factor's type
  /// cannot hold the numbers.
  double value() const;

  // After the last step, and bring_together():

  /// The estimate of || A^-1 diag(w) || in the infinity norm: the largest weighted sum of rows(). Infinite without weights,
  /// or if a row is not finite.
  double weighted_value() const;
  /// The rows that were computed.
  std::vector<RowOfInverse> rows() const;
  /// Their elements, a column for each. Over ranks all call it.
  std::vector<T> elements() const;
  /// Of each component of A^-1 diag(w) s the largest over the vectors s of signs, for weights of which the largest is 1.
  const std::vector<double>& reach() const noexcept;

  // For who solves with the same factor anyway: begin(), the vectors among the right-hand sides, end(). Then
  // the step costs no sweep of its own.

  void begin(Flow& flow);
  const TiledMatrix<T>& vectors() const noexcept;
  void end(Flow& flow);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

extern template class InverseNorm<float>;
extern template class InverseNorm<double>;

}  // namespace fairlead::linalg
