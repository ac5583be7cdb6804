// Judges a solution of smallest norm: A x = b with fewer equations than unknowns, or with dependent ones.
//
// x is the solution of smallest norm of a nearby system if it solves a nearby system and is a combination of the rows of
// one: b - A x and x - A^H w are small, for any vector w (Higham 2002, "Accuracy and Stability of Numerical Algorithms",
// sections 21.1 and 21.2).
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/scalar.hpp"
#include "solver/execution.hpp"
#include "solver/least_squares_check.hpp"
#include "solver/rank_decision.hpp"

namespace fairlead::solver {

template <class T>
struct MinimumNormSolution {
  std::shared_ptr<const linalg::MatrixSource<WideOf<T>>> a, b;
  /// A^T, and the columns of conj(x) and conj(w).
  std::shared_ptr<const linalg::MatrixSource<WideOf<T>>> transposed;
  const T *x_conjugate, *w_conjugate;
  std::int64_t columns;
  std::vector<double> norms_of_b;  ///< in the two norm, of each column
  double limit;                    ///< of the backward error
  SolvePrecision precision;
  bool wants_condition;
  InverseNormEstimate of_inverse{};  ///< of R, if the rank decision needed it
  std::uint32_t readers = 1;         ///< ranks that read A and b: all or the first
};

/// The largest of the backward errors of both equations. The residual is set if the rows are dependent. Warns if little of
/// the solution can be trusted. Temporarily needs memory as for x and for b.
template <class T>
JudgedLeastSquares judge_minimum_norm(Execution& run, const linalg::Kernels& kernels, RankDecision<T>& rank,
                                      const MinimumNormSolution<T>& solution);

/// Bytes of memory of a check.
template <class T>
Bytes minimum_norm_check_bytes(std::int64_t equations, std::int64_t unknowns, std::int64_t columns) noexcept {
  return static_cast<Bytes>(columns) * (static_cast<Bytes>(equations) * (sizeof(WideOf<T>) + 2 * sizeof(T)) +
                                        static_cast<Bytes>(unknowns) * sizeof(T));
}

}  // namespace fairlead::solver
