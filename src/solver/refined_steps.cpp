// See refined_steps.hpp.
#include "solver/refined_steps.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/larger.hpp"

namespace fairlead::solver {

namespace {

constexpr int most_steps = 6;

/// x := x + A^-1 r, each column scaled, so that T can hold what is left. The seconds of it that count or not.
template <class T>
double correct(Execution& run, TiledFactors<T>& factors, const SolutionToJudge<T>& solution,
               const std::vector<WideOf<T>>& residual) {
  using Wide = WideOf<T>;
  const auto n = static_cast<std::size_t>(solution.a->rows());
  double seconds = 0;
  std::vector<double> sizes(static_cast<std::size_t>(solution.columns));
  for (std::size_t i = 0; i < residual.size(); ++i)
    sizes[i / n] = std::max(sizes[i / n], magnitude(residual[i]));
  std::vector<T> correction(residual.size());
  for (std::size_t i = 0; i < residual.size(); ++i)
    correction[i] = sizes[i / n] > 0 ? scalar_cast<T>(residual[i] / sizes[i / n]) : T(0);
  {
    linalg::DistributedColumns<T> d(run.runtime(), "correction", correction.data(), solution.a->rows(),
                                    solution.columns, solution.tile, solution.distribution);
    run.begin("refinement", factors.solve_tasks(d.tiles().tile_columns()));
    run.compute([&](auto& front) { factors.solve(front, d.tiles()); });
    run.wait();
    d.gather();
    seconds = solution.counts ? run.end() : run.end_uncounted();
  }
  for (std::size_t i = 0; i < correction.size(); ++i)
    solution.x[i] =
        scalar_cast<T>(scalar_cast<Wide>(solution.x[i]) + sizes[i / n] * scalar_cast<Wide>(correction[i]));
  return seconds;
}

template <class T>
RefinedSteps refine_block(Execution& run, const linalg::Kernels& kernels, TiledFactors<T>& factors,
                          const SolutionToJudge<T>& solution) {
  const std::int64_t n = solution.a->rows();
  std::vector<WideOf<T>> residual;
  if (solution.may_refine) residual.resize(static_cast<std::size_t>(n * solution.columns));
  std::vector<T> best;
  RefinedSteps judged;
  double seconds = 0;
  for (int step = 0;; ++step) {
    linalg::BackwardError<T> error(kernels, solution.a, solution.b, solution.x, solution.columns,
                                   solution.may_refine ? residual.data() : nullptr);
    run.begin("error check", error.tasks());
    error.submit(run.flow(), run.runtime().rank(), solution.readers);
    run.end_uncounted();
    error.combine_ranks(run.runtime());
    const bool wanted = step < solution.least_steps;
    const bool halved = step == 0 || error.value() <= judged.backward_error / 2;
    // The residual of a required step may be as small as the previous one.
    const bool as_good = step <= solution.least_steps && error.value() <= solution.limit;
    if (step > 0 && !as_good && !(error.value() < judged.backward_error)) {  // no better: as it was
      std::ranges::copy(best, solution.x);
      judged.seconds = seconds;
      return judged;
    }
    judged = {.backward_error = error.value(),
              .matrix_norm = error.matrix_norm(),
              .steps = step,
              .seconds = seconds,
              .first_backward_error = step == 0 ? error.value() : judged.first_backward_error,
              .uncertain_residual = error.directed_residual_bound()};
    if (!solution.may_refine || (!halved && !wanted) || (error.value() <= solution.limit && !wanted) ||
        step == most_steps || !std::isfinite(error.value()))
      return judged;
    best.assign(solution.x, solution.x + n * solution.columns);
    const double of_step = correct(run, factors, solution, residual);
    if (solution.counts) seconds += of_step;
  }
}

}  // namespace

template <class T>
RefinedSteps judge_and_refine(Execution& run, const linalg::Kernels& kernels, TiledFactors<T>& factors,
                              const SolutionToJudge<T>& solution) {
  const std::int64_t n = solution.a->rows();
  const std::int64_t at_once = solution.may_refine
                                   ? linalg::columns_of_block(n, solution.columns)
                                   : linalg::BackwardError<T>::preferred_columns(n, solution.columns);
  RefinedSteps all;
  linalg::for_each_block(solution.columns, at_once, [&](std::int64_t first, std::int64_t count) {
    SolutionToJudge<T> block = solution;
    block.b = std::make_shared<linalg::ColumnBlock<WideOf<T>>>(solution.b, first, count);
    block.x = solution.x + first * n;
    block.columns = count;
    const RefinedSteps judged = refine_block(run, kernels, factors, block);
    all.backward_error = linalg::larger(all.backward_error, judged.backward_error);
    all.first_backward_error = linalg::larger(all.first_backward_error, judged.first_backward_error);
    all.matrix_norm = judged.matrix_norm;
    all.uncertain_residual.resize(judged.uncertain_residual.size());
    for (std::size_t i = 0; i < all.uncertain_residual.size(); ++i)
      if (!(std::abs(judged.uncertain_residual[i]) <= std::abs(all.uncertain_residual[i])))
        all.uncertain_residual[i] = judged.uncertain_residual[i];
    all.steps = std::max(all.steps, judged.steps);
    all.seconds += judged.seconds;
  });
  return all;
}

template RefinedSteps judge_and_refine<float>(Execution&, const linalg::Kernels&, TiledFactors<float>&,
                                              const SolutionToJudge<float>&);
template RefinedSteps judge_and_refine<double>(Execution&, const linalg::Kernels&, TiledFactors<double>&,
                                               const SolutionToJudge<double>&);
template RefinedSteps judge_and_refine<std::complex<float>>(Execution&, const linalg::Kernels&,
                                                            TiledFactors<std::complex<float>>&,
                                                            const SolutionToJudge<std::complex<float>>&);
template RefinedSteps judge_and_refine<std::complex<double>>(Execution&, const linalg::Kernels&,
                                                             TiledFactors<std::complex<double>>&,
                                                             const SolutionToJudge<std::complex<double>>&);

}  // namespace fairlead::solver
