// Judges a least squares solution: the backward error, the residual, and a bound of the forward error.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/scalar.hpp"
#include "solver/execution.hpp"
#include "solver/rank_decision.hpp"
#include "solver/tiled_factors.hpp"
#include "solver/trust.hpp"

namespace fairlead::solver {

/// An estimate of the norm of an inverse, with its cost.
struct InverseNormEstimate {
  double norm = 0, seconds = 0;
  int sweeps = 0;
};

/// Of R, the triangular factor of `factors`, as phases of their own.
template <class T>
InverseNormEstimate estimate_norm_of_inverse(Execution& run, TiledFactors<T>& factors,
                                             const TiledMatrix<T>& a);

template <class T>
struct LeastSquaresSolution {
  std::function<std::shared_ptr<const linalg::MatrixSource<WideOf<T>>>()> a, b;  ///< called for each pass
  std::function<void()> forget_pages;                                            ///< after a pass over A
  const T* x;  ///< as many rows as A, one column after the other
  std::int64_t columns;
  double limit;  ///< of the backward error
  SolvePrecision precision;
  bool wants_condition;
  InverseNormEstimate of_inverse{};  ///< of R, if the rank decision needed it
  std::uint32_t readers = 1;         ///< ranks that read A and b: all or the first
};

struct JudgedLeastSquares {
  double backward_error = 0;
  report::LeastSquaresResidual residual{};
  std::optional<report::ConditionReport> condition{};
};

/// `a`: the tiles with the factors. Warns if little of the solution can be trusted.
template <class T>
JudgedLeastSquares judge_least_squares(Execution& run, const linalg::Kernels& kernels,
                                       TiledFactors<T>& factors, const TiledMatrix<T>& a,
                                       RankDecision<T>& rank, const LeastSquaresSolution<T>& solution);

}  // namespace fairlead::solver
