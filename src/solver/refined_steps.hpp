// Checks the solution of a square system, and refines it if the factors were not accurate enough: the
// residual in double precision, a correction from the same factors. For LU with element growth, a few steps
// of O(n^2) each restore the accuracy (Skeel 1980, "Iterative refinement implies numerical stability for
// Gaussian elimination").
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/column_block.hpp"
#include "base/scalar.hpp"
#include "solver/execution.hpp"
#include "solver/tiled_factors.hpp"

namespace fairlead::solver {

/// A backward error that needs no further step: far below the limit. Complex numbers have that of real ones, although
/// their limit is wider, since LAPACK's results do not exceed it.
template <class T>
double sufficient_backward_error(std::int64_t n) noexcept {
  return linalg::max_correct_backward_error<RealOf<T>>(n) / 10;
}

struct RefinedSteps {
  double backward_error = 0;
  double matrix_norm = 0;                    ///< the largest sum of a row
  int steps = 0;                             ///< of refinement
  double seconds = 0;                        ///< that count in the run's time
  double first_backward_error = 0;           ///< before refinement
  std::vector<double> uncertain_residual{};  ///< BackwardError::directed_residual_bound()
};

template <class T>
struct SolutionToJudge {
  std::shared_ptr<const linalg::MatrixSource<WideOf<T>>> a, b;
  T* x;  ///< n elements for each column, one column after the other
  std::int64_t columns;
  std::int32_t tile;
  double limit;               ///< of the backward error: columns at or below it are not refined
  bool may_refine;            ///< if false, the solution is only checked
  bool counts;                ///< refining belongs to the time of the run
  int least_steps = 0;        ///< minimum number of refinement steps, regardless of `limit`
  std::uint32_t readers = 1;  ///< ranks that read a and b: all or the first
  const Distribution* distribution = nullptr;  ///< of the factors
};

/// Bytes of memory if it may refine.
template <class T>
constexpr Bytes refined_steps_bytes(std::int64_t n, std::int64_t columns) noexcept {
  return static_cast<Bytes>(n * linalg::columns_of_block(n, columns)) * (sizeof(WideOf<T>) + 2 * sizeof(T));
}

/// Runs phases of `run`. Ends when the error is below the limit, or a step does not halve it. Many columns
/// are refined block by block.
template <class T>
RefinedSteps judge_and_refine(Execution& run, const linalg::Kernels& kernels, TiledFactors<T>& factors,
                              const SolutionToJudge<T>& solution);

}  // namespace fairlead::solver
