// Mixed-precision iterative refinement: double-precision solutions from a single-precision Cholesky factor, which takes
// half the time, memory and disk space. In each step the residual is computed in double precision from the matrix
// itself, which is generated or read again and never stored. The factor then solves for a correction. The iteration
// ends when the residual is as small as that of a double-precision solution. Langou, Langou, Luszczek, Kurzak, Buttari,
// Dongarra 2006 ("Exploiting the performance of 32 bit floating point arithmetic in obtaining 64 bit accuracy"), as in
// LAPACK's dsposv.
//
//   fairlead::linalg::cholesky(flow, kernels, l);                         // of A rounded, in tiles of float
//   const auto made = fairlead::linalg::solve_refined(flow, runtime, kernels, l, a, b, x.data());
#pragma once
#include <fairlead/inverse_norm.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>
#include <fairlead/runtime.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fairlead::linalg {

// Below, Single is float or std::complex<float>: the type of the factor.

/// The numbers of the solution: double or std::complex<double>.
template <class Single>
using Refined = std::conditional_t<std::is_same_v<Single, float>, double, std::complex<double>>;

/// The refinement of one solution, step by step, for programs that show progress; solve_refined() does all steps. A
/// step consists of submit_correction(), a wait, submit_residual(), a wait, and judge(). The first correction is the
/// solution by the factor.
template <class Single = float>
class RefinedSolve {
 public:
  using Wide = Refined<Single>;

  /// `l`: the result of cholesky() for the matrix rounded to single precision, lower tiles. `a`: the matrix. `x`:
  /// receives the solution, column-major, with the rows and columns of b. All must outlive this object. Throws
  /// UsageError if the shapes do not match. Collective: all ranks construct it, and each gets the whole solution.
  /// `readers` is the number of ranks that read a and b: all ranks, or 1, which means rank 0.
  RefinedSolve(Runtime& runtime, Kernels kernels, const TiledMatrix<Single>& l,
               std::shared_ptr<const MatrixSource<Wide>> a, std::shared_ptr<const MatrixSource<Wide>> b,
               Wide* x, std::uint32_t readers = 1);
  RefinedSolve(const RefinedSolve&) = delete;
  RefinedSolve& operator=(const RefinedSolve&) = delete;
  ~RefinedSolve();

  /// The memory that this object needs in addition to the tiles of the factor and x.
  static std::size_t bytes(std::int64_t n, std::int64_t columns, std::size_t workers) noexcept;

  /// `along`: an estimate for the same factor; one step of it, if any is left, uses the same sweeps over the factor.
  void submit_correction(Flow& flow, InverseNorm<Single>* condition_estimate = nullptr);
  /// Call it after waiting for the flow.
  void submit_residual(Flow& flow);

  enum class State : std::uint8_t {
    improving,   // another step is needed
    converged,   // as accurate as a double-precision solution
    too_coarse,  // the factor yields no better corrections: the matrix is too ill-conditioned for it
  };
  /// The state after a step. It has converged if the backward error (see backward_error()) is below four unit
  /// roundoffs, 4 x 2^-53, and the corrections of all components of x are within the component's rounding or no longer
  /// decrease. It has also converged if the error no longer decreases and is below sqrt(n) unit roundoffs, LAPACK's
  /// criterion. A step that does not halve the error is the last one, as is the thirtieth.
  State evaluate_step();

  int steps() const noexcept;
  /// || b - A x || / (|| A || || x || + || b ||) in the infinity norm, the maximum over the columns.
  double backward_error() const noexcept;
  /// For each row, a bound on the residual, and | A | | x | + | b |; both relative to the largest component of x, as in
  /// BackwardError, and for the last residual.
  std::vector<double> uncertain_residual() const;
  std::vector<double> sizes() const;
  /// || A || in the infinity norm, which equals the 1-norm if A is symmetric. Valid after the first residual.
  double matrix_norm() const noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

struct RefinedSolution {
  int steps = 0;
  double backward_error = 0;
};

/// The whole refinement; waits for the flow's tasks. Throws NumericalError, with the accuracy reached, if the matrix is
/// too ill-conditioned for a single-precision factor; other errors as RefinedSolve and wait_for_results().
template <class Single>
RefinedSolution solve_refined(Flow& flow, Runtime& runtime, const Kernels& kernels,
                              const TiledMatrix<Single>& l,
                              std::shared_ptr<const MatrixSource<Refined<Single>>> a,
                              std::shared_ptr<const MatrixSource<Refined<Single>>> b, Refined<Single>* x);

/// Throws the error of solve_refined(), for programs that refine step by step. `factor`: the precision of the factor.
template <class Single>
[[noreturn]] void throw_too_coarse(const RefinedSolve<Single>& solve,
                                   std::string_view factor = "single precision");

#define FAIRLEAD_REFINED_SOLVE_OF(Single)                                      \
  extern template class RefinedSolve<Single>;                                  \
  extern template RefinedSolution solve_refined<Single>(                       \
      Flow&, Runtime&, const Kernels&, const TiledMatrix<Single>&,             \
      std::shared_ptr<const MatrixSource<Refined<Single>>>,                    \
      std::shared_ptr<const MatrixSource<Refined<Single>>>, Refined<Single>*); \
  extern template void throw_too_coarse<Single>(const RefinedSolve<Single>&, std::string_view);
FAIRLEAD_REFINED_SOLVE_OF(float)
FAIRLEAD_REFINED_SOLVE_OF(std::complex<float>)
#undef FAIRLEAD_REFINED_SOLVE_OF

}  // namespace fairlead::linalg
