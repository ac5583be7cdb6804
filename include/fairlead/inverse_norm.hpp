// How ill-conditioned a system is: || A^-1 || in the infinity norm, estimated from the factors that are there
// anyway. Times || A ||, that is the condition number: by how much a relative change of A or b may
// grow in the solution.
//
// Hager 1984 ("Condition estimates") and Higham, Tisseur 2000 ("A block algorithm for matrix 1-norm
// estimation"), as xPOCON and xLACN2 of LAPACK, but with several vectors at once: a first step applies A^-1 to
// vectors of 1 and -1 and looks where the results are largest; a second one computes those rows of A^-1 whole,
// as columns of A^-T. The estimate is the norm of the largest: never above the true one but for roundings. Of
// a symmetric matrix it is the one norm as well.
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

namespace fairlead::linalg {

/// How A^-1 and A^-T are applied in place to the columns of a matrix with n rows, in tiles.
template <class T>
struct AppliedInverse {
  std::function<void(Flow&, const TiledMatrix<T>&b)> plain, transposed;
  /// How many tasks the larger of them is for so many columns of tiles.
  std::function<std::uint64_t(std::int64_t columns_of_tiles)> tasks;
};

template <class T>
class InverseNorm {
 public:
  /// `l`: what cholesky() made, lower tiles. It must stay. Throws UsageError if it is not square.
  InverseNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& l);
  /// Of any n x n matrix whose inverse can be applied, to tiles of this side. What `inverse` refers to must
  /// stay.
  InverseNorm(Runtime& runtime, std::int64_t n, std::int32_t tile, AppliedInverse<T> inverse);
  InverseNorm(const InverseNorm&) = delete;
  InverseNorm& operator=(const InverseNorm&) = delete;
  ~InverseNorm();

  /// What this takes of memory besides the tiles of the factor.
  static std::size_t bytes(std::int64_t n) noexcept;

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
