// SolveSteps for a matrix with fewer rows than columns: the solution of smallest norm, from the factors of the transpose.
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/column_scales.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "solver/minimum_norm_check.hpp"
#include "solver/solve_steps.hpp"

namespace fairlead::solver {

/// With A^T = Q R, x' = Q R^-H b'. Returns w' with x' = A^T w', which is R^-1 R^-H b'.
template <class T>
std::vector<T> SolveSteps<T>::solve_minimum_norm(const KeptFactors<T>& kept, RankDecision<T>& rank) {
  const linalg::ColumnScales<T> scales(x_.data(), m_, columns());
  std::vector<T> w(static_cast<std::size_t>(n_ * columns()));
  for (std::int64_t c = 0; c < columns(); ++c) std::copy_n(x_.begin() + c * m_, n_, w.begin() + c * n_);
  const linalg::AppliedInverse<T> inverse = kept.factors->inverse();
  const auto with_tiles = [&](std::vector<T>& vectors, std::int64_t rows, const auto& submit) {
    linalg::DistributedColumns<T> tiles(run_->runtime(), "x", vectors.data(), rows, columns(), kept.a->tile(),
                                        kept.a->distribution());
    submit(tiles.tiles());
    run_->wait();
    tiles.gather();
  };
  run_->begin("solve", 0, kept.problem.solve_flops(static_cast<double>(columns())));
  if (rank.is_reduced())
    rank.solve_adjoint(w.data(), n_, columns());
  else
    with_tiles(w, n_, [&](const TiledMatrix<T>& b) { inverse.transposed(run_->flow(), b); });
  for (std::int64_t c = 0; c < columns(); ++c) std::copy_n(w.begin() + c * n_, n_, x_.begin() + c * m_);
  with_tiles(x_, m_, [&](const TiledMatrix<T>& b) { kept.factors->apply_q(run_->flow(), b); });
  if (rank.is_reduced())
    rank.solve(w.data(), n_, columns());
  else
    with_tiles(w, n_, [&](const TiledMatrix<T>& b) { inverse.plain(run_->flow(), b); });
  result_.seconds += run_->end();
  scales.undo(x_.data());
  scales.undo(w.data(), n_);
  return w;
}

template <class T>
void SolveSteps<T>::finish_minimum_norm(KeptFactors<T> kept, MatrixToSolve<T>& matrix) {
  std::vector<double> norms_of_b(static_cast<std::size_t>(columns()));
  for (std::int64_t c = 0; c < columns(); ++c)
    for (std::int64_t i = 0; i < n_; ++i)
      norms_of_b[static_cast<std::size_t>(c)] = std::hypot(
          norms_of_b[static_cast<std::size_t>(c)], magnitude(x_[static_cast<std::size_t>(i + c * m_)]));
  InverseNormEstimate of_inverse;
  RankDecision<T> rank = rank_decision(kept, of_inverse);
  const std::vector<T> w = solve_minimum_norm(kept, rank);
  run_->reached(Milestone::solved);
  const JudgedLeastSquares judged =
      judge_minimum_norm<T>(*run_, kernels_, rank,
                            {.a = std::make_shared<linalg::StoredSource<WideOf<T>>>(
                                 system_.a, linalg::source_staging_bytes, linalg::Shape::general),
                             .b = right_hand_sides(),
                             .transposed = matrix.source(),
                             .x_conjugate = x_.data(),
                             .w_conjugate = w.data(),
                             .columns = columns(),
                             .norms_of_b = std::move(norms_of_b),
                             .limit = linalg::max_correct_backward_error<T>(m_),
                             .precision = precision(*result_.problem.operation),
                             .wants_condition = options_.condition,
                             .of_inverse = of_inverse,
                             .readers = place_.readers});
  std::ranges::transform(x_, x_.begin(), conjugate<T>);
  matrix.forget_pages();
  result_.backward_error = result_.first_backward_error = judged.backward_error;
  if (rank.is_reduced()) result_.residual = judged.residual;
  result_.numerical_rank = rank.rank();
  result_.condition = judged.condition;
}

#define FAIRLEAD_MINIMUM_NORM_SOLVE_OF(T)                                                             \
  template std::vector<T> SolveSteps<T>::solve_minimum_norm(const KeptFactors<T>&, RankDecision<T>&); \
  template void SolveSteps<T>::finish_minimum_norm(KeptFactors<T>, MatrixToSolve<T>&);
FAIRLEAD_MINIMUM_NORM_SOLVE_OF(float)
FAIRLEAD_MINIMUM_NORM_SOLVE_OF(double)
FAIRLEAD_MINIMUM_NORM_SOLVE_OF(std::complex<float>)
FAIRLEAD_MINIMUM_NORM_SOLVE_OF(std::complex<double>)
#undef FAIRLEAD_MINIMUM_NORM_SOLVE_OF

}  // namespace fairlead::solver
