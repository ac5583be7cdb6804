// See least_squares_check.hpp.
#include "solver/least_squares_check.hpp"

#include <fairlead/inverse_norm.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "algorithms/linalg/column_block.hpp"
#include "algorithms/linalg/larger.hpp"
#include "algorithms/linalg/least_squares_error.hpp"
#include "solver/inverse_estimate.hpp"

namespace fairlead::solver {

namespace {

using linalg::InverseNorm;
using linalg::LeastSquaresError;

/// Errors and residuals over all columns of x, checked block by block.
struct CheckedColumns {
  double backward_error = 0;
  report::LeastSquaresResidual residual;
  double size_to_residual = std::numeric_limits<double>::infinity();
  double uncertain_residual = 0;         // as of LeastSquaresError, the largest
  std::vector<double> uncertain_normal;  // likewise
  int exponent_of_matrix = 0;
};

template <class T>
CheckedColumns check_columns(Execution& run, const linalg::Kernels& kernels, TiledFactors<T>& factors,
                             const TiledMatrix<T>& a, RankDecision<T>& rank,
                             const LeastSquaresSolution<T>& solution) {
  const std::int64_t m = a.rows();
  CheckedColumns all;
  const std::int64_t at_once = linalg::columns_of_block(m, solution.columns);
  linalg::for_each_block(solution.columns, at_once, [&](std::int64_t first, std::int64_t count) {
    const auto b = std::make_shared<linalg::ColumnBlock<WideOf<T>>>(solution.b(), first, count);
    LeastSquaresError<T> error(kernels, solution.a(), b, solution.x + first * m, m, count);
    run.begin("error check", error.tasks());
    error.check(
        run.runtime(), run.flow(), a.tile(),
        [&factors](Flow& flow, const TiledMatrix<T>& r) { factors.rotate(flow, r); }, [&run] { run.wait(); },
        solution.readers, a.distribution());
    if (rank.is_reduced()) rank.restrict(error, m, count);
    run.end_uncounted();
    all.backward_error = linalg::larger(all.backward_error, error.value());
    all.residual = {.relative = linalg::larger(all.residual.relative, error.relative_residual()),
                    .excess = linalg::larger(all.residual.excess, error.residual_excess())};
    all.size_to_residual = std::min(all.size_to_residual, error.ratio_to_residual());
    all.uncertain_residual = linalg::larger(all.uncertain_residual, error.residual_bound());
    all.exponent_of_matrix = error.exponent_of_matrix();
    const std::vector<double> of_block = error.normal_residual_bound();
    all.uncertain_normal.resize(of_block.size());
    std::ranges::transform(all.uncertain_normal, of_block, all.uncertain_normal.begin(), linalg::larger);
  });
  solution.forget_pages();
  return all;
}

/// `sweeps_per_step`: over R.
template <class T>
InverseNormEstimate finished(Execution& run, InverseNorm<T>& inverse, int sweeps_per_step) {
  const double seconds = finish_estimate(run, inverse);
  return {inverse.value(), seconds, InverseNorm<T>::steps * sweeps_per_step};
}

/// (A^H A)^-1 from the inverse of R, for A x 2^-exponent.
template <class T>
linalg::AppliedInverse<T> inverse_of_product(const linalg::AppliedInverse<T>& of_r, int exponent,
                                             std::int64_t tiles) {
  const auto scale = codelet("scale").cpu([exponent](InOut<Tile<T>> x) {
    for (int j = 0; j < x.columns(); ++j)
      for (int i = 0; i < x.rows(); ++i) x(i, j) = times_power_of_two(x(i, j), exponent);
  });
  const auto scale_all = [scale](Flow& flow, const TiledMatrix<T>& x) {
    for (std::int32_t i = 0; i < x.tile_rows(); ++i)
      for (std::int32_t j = 0; j < x.tile_columns(); ++j) flow.submit(scale(x(i, j)));
  };
  const auto both = [of_r, scale_all](Flow& flow, const TiledMatrix<T>& x) {
    of_r.transposed(flow, x);
    scale_all(flow, x);
    of_r.plain(flow, x);
    scale_all(flow, x);
  };
  return {both, both, [of_r, tiles](std::int64_t columns) {
            return 2 * (of_r.tasks(columns) + static_cast<std::uint64_t>(tiles * columns));
          }};
}

/// The bound of || x - true x || / || x ||. With r = b - A x as computed and what rounding may have changed in
/// it, x - true x = -(A^H A)^-1 A^H r - A^+ (that change), and the rows of A^+ have the norms
/// sqrt((A^H A)^-1_ii).
template <class T>
InverseNormEstimate bound_error(Execution& run, TiledFactors<T>& factors, const TiledMatrix<T>& a,
                                const CheckedColumns& checked, double condition, double epsilon) {
  // R is that of A + E, which changes the inverse by about the condition times the size of E.
  const double off = 2 * condition * std::max(checked.backward_error, epsilon);
  InverseNorm<T> inverse(run.runtime(), a.columns(), a.tile(),
                         inverse_of_product(factors.inverse(), checked.exponent_of_matrix, a.tile_columns()),
                         weights_of(checked.uncertain_normal));
  InverseNormEstimate estimate = finished(run, inverse, 2);
  double bound = inverse.weighted_value();
  if (std::isfinite(bound)) {
    bound = 0;
    for (const linalg::RowOfInverse& row : inverse.rows())
      bound = std::max(bound, row.weighted_sum + std::sqrt(row.diagonal) * checked.uncertain_residual);
  }
  estimate.norm = off < 0.5 ? bound / (1 - off) : HUGE_VAL;
  return estimate;
}

}  // namespace

template <class T>
InverseNormEstimate estimate_norm_of_inverse(Execution& run, TiledFactors<T>& factors,
                                             const TiledMatrix<T>& a) {
  InverseNorm<T> inverse(run.runtime(), a.columns(), a.tile(), factors.inverse());
  return finished(run, inverse, 1);
}

template <class T>
JudgedLeastSquares judge_least_squares(Execution& run, const linalg::Kernels& kernels,
                                       TiledFactors<T>& factors, const TiledMatrix<T>& a,
                                       RankDecision<T>& rank, const LeastSquaresSolution<T>& solution) {
  const CheckedColumns checked = check_columns(run, kernels, factors, a, rank, solution);
  JudgedLeastSquares judged{.backward_error = checked.backward_error, .residual = checked.residual};
  if (!solution.wants_condition || !(checked.backward_error <= solution.limit) || rank.rank().rank == 0)
    return judged;
  const double condition = rank.condition();
  InverseNormEstimate of_error;
  if (rank.is_reduced())
    of_error.norm =
        normwise_least_squares_error(a.rows(), condition, checked.backward_error, checked.size_to_residual);
  else
    of_error = bound_error(run, factors, a, checked, condition, solution.precision.epsilon);
  judged.condition = condition_report(condition, of_error.norm, solution.precision);
  judged.condition->is_exact = rank.rank().values.has_value();
  judged.condition->seconds = solution.of_inverse.seconds + of_error.seconds;
  judged.condition->columns = static_cast<std::uint64_t>(solution.columns);
  judged.condition->sweeps = solution.of_inverse.sweeps + of_error.sweeps;
  const std::string warning =
      least_squares_warning(*judged.condition, checked.size_to_residual, solution.precision);
  if (!warning.empty()) run.warn(warning);
  return judged;
}

#define FAIRLEAD_LEAST_SQUARES_CHECK_OF(T)                                                                 \
  template InverseNormEstimate estimate_norm_of_inverse<T>(Execution&, TiledFactors<T>&,                   \
                                                           const TiledMatrix<T>&);                         \
  template JudgedLeastSquares judge_least_squares<T>(Execution&, const linalg::Kernels&, TiledFactors<T>&, \
                                                     const TiledMatrix<T>&, RankDecision<T>&,              \
                                                     const LeastSquaresSolution<T>&);
FAIRLEAD_LEAST_SQUARES_CHECK_OF(float)
FAIRLEAD_LEAST_SQUARES_CHECK_OF(double)
FAIRLEAD_LEAST_SQUARES_CHECK_OF(std::complex<float>)
FAIRLEAD_LEAST_SQUARES_CHECK_OF(std::complex<double>)
#undef FAIRLEAD_LEAST_SQUARES_CHECK_OF

}  // namespace fairlead::solver
