// The checks of a solve: growth of the elements, backward error with refinement, condition, and what the file of the
// solution loses. Definitions of templates, for solve_steps.cpp.
#pragma once
#include <fairlead/inverse_norm.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <type_traits>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/element_sizes.hpp"
#include "solver/inverse_estimate.hpp"
#include "solver/loss_in_single.hpp"
#include "solver/refined_steps.hpp"
#include "solver/solve_steps.hpp"

namespace fairlead::solver {

template <class T>
void SolveSteps<T>::measure_growth(const TiledMatrix<T>& a, const Factors& factors, double largest) {
  std::optional<double> grown = factors.largest_element();
  if (!grown) {
    linalg::ElementSizes<T> of_u;
    run_->begin("growth", of_u.tasks(a, linalg::Elements::upper));
    of_u.submit(run_->flow(), a, linalg::Elements::upper);
    run_->end_uncounted();
    of_u.combine_ranks(run_->runtime());
    grown = of_u.largest();
  }
  if (largest > 0) result_.growth = *grown / largest;
  result_.largest = largest;
}

template <class T>
void SolveSteps<T>::judge(MatrixToSolve<T>& matrix, const TiledMatrix<T>& a, Factors& factors) {
  const DenseOperation& method = *result_.problem.operation;
  const double limit = linalg::max_correct_backward_error<T>(m_);
  // The factors of a symmetric matrix are those of the lower triangle. The residual contains the difference of
  // the upper triangle, so that one step of refinement removes it.
  const bool asymmetric = matrix.asymmetry() != 0;
  // A run in virtual time has no residual to decide by.
  const bool expected = !run_->computes() && method.solve->usually_refines;
  const RefinedSteps judged =
      judge_and_refine<T>(*run_, kernels_, factors,
                          {.a = matrix.source(),
                           .b = right_hand_sides(),
                           .x = x_.data(),
                           .columns = columns(),
                           .tile = a.tile(),
                           .limit = sufficient_backward_error<T>(n_),
                           .may_refine = asymmetric || method.solve->grows || system_.factors != nullptr,
                           .counts = true,
                           .least_steps = asymmetric || expected ? 1 : 0,
                           .readers = place_.readers,
                           .distribution = a.distribution()});
  result_.seconds += judged.seconds;
  matrix.forget_pages();
  result_.backward_error = judged.backward_error;
  result_.first_backward_error = judged.first_backward_error;
  result_.matrix_norm = judged.matrix_norm;
  if (options_.keep_factors && !(judged.first_backward_error <= limit))
    run_->warn(fmt::format("{}. Solve with the matrix in addition to them, which refines it, or factor by {}",
                           grown_factors_warning(judged.first_backward_error), qr_operation.key));
  if (judged.steps > 0) result_.refinement_steps = judged.steps;
  if (asymmetric) result_.asymmetry = matrix.asymmetry();
  // If sums of a row overflow, the condition is unknown.
  if (!options_.condition || !(judged.backward_error <= limit) || !std::isfinite(judged.matrix_norm)) return;
  linalg::InverseNorm<T> inverse(run_->runtime(), n_, a.tile(), factors.inverse(),
                                 weights_of(judged.uncertain_residual));
  const InverseEstimate estimate = estimate_inverse(*run_, inverse,
                                                    {.kernels = kernels_,
                                                     .a = matrix.source(),
                                                     .matrix_norm = judged.matrix_norm,
                                                     .factor_error = judged.first_backward_error,
                                                     .epsilon = epsilon_of_scalar<T>,
                                                     .readers = place_.readers},
                                                    linalg::InverseNorm<T>::sweeps_per_step);
  matrix.forget_pages();
  result_.condition = report_estimate(*run_, estimate, 1, columns(), precision(method));
  if (options_.keep_factors && result_.condition->singular)
    run_->warn(singular_factors_warning(result_.condition->number));
}

template <class T>
void SolveSteps<T>::judge_as_least_squares(MatrixToSolve<T>& matrix, const TiledMatrix<T>& a,
                                           Factors& factors, RankDecision<T>& rank,
                                           const InverseNormEstimate& of_inverse) {
  const JudgedLeastSquares judged =
      judge_least_squares<T>(*run_, kernels_, factors, a, rank,
                             {.a = [&] { return matrix.source(); },
                              .b = [this] { return right_hand_sides(); },
                              .forget_pages = [&] { matrix.forget_pages(); },
                              .x = x_.data(),
                              .columns = columns(),
                              .limit = linalg::max_correct_backward_error<T>(m_),
                              .precision = precision(*result_.problem.operation),
                              .wants_condition = options_.condition,
                              .of_inverse = of_inverse,
                              .readers = place_.readers});
  result_.backward_error = result_.first_backward_error = judged.backward_error;
  result_.residual = judged.residual;
  result_.numerical_rank = rank.rank();
  result_.condition = judged.condition;
}

/// Of a solution in double precision that goes to a file in single: alike on all ranks, as the first one writes
/// it.
template <class T>
void SolveSteps<T>::find_loss_in_file() {
  if constexpr (std::is_same_v<T, WideOf<T>>) {
    if (!is_single(system_.solution())) return;
    double lost[] = {lost_in_single(x_.data(), m_, columns(), below_single_)};
    linalg::allreduce_max(run_->runtime(), lost);
    const bool fits = !(lost[0] > epsilon_of_scalar<float>);
    (fits ? result_.rounded_in_file : result_.lost_in_file) = lost[0];
    if (fits) return;
    result_.backward_error += lost[0];
    result_.condition.reset();
  }
}

}  // namespace fairlead::solver
