// How ill-conditioned a system is: || A^-1 || in the one norm, estimated from the Cholesky factor that is
// there anyway. Times || A ||, that is the condition number: by how much a relative change of A or b may
// grow in the solution.
//
// Hager 1984 ("Condition estimates") and Higham, Tisseur 2000 ("A block algorithm for matrix 1-norm
// estimation"), as xPOCON and xLACN2 of LAPACK, but with several vectors at once, and for a symmetric matrix,
// whose one norm is its infinity norm: a first step applies A^-1 to vectors of 1 and -1 and looks where the
// results are largest; a second one computes those columns of A^-1 whole. The estimate is the norm of the
// largest: never above the true one but for roundings.
//
//   fairlead::linalg::InverseNorm<double> inverse(runtime, kernels, l);  // after cholesky()
//   while (!inverse.done()) {
//     inverse.submit(flow);
//     fairlead::linalg::wait_for_results(flow);
//   }
//   const double condition = matrix_norm * inverse.value();
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fairlead::linalg {

template <class T>
class InverseNorm {
 public:
  /// `l`: what cholesky() made, lower tiles. It must stay. Throws UsageError if it is not square.
  InverseNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& l);
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
