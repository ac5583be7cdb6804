// See refined_steps.hpp.
#include "fairlead/refined_steps.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/dealt_columns.hpp"

namespace fairlead::app {

namespace {

constexpr int most_steps = 6;

/// x := x + A^-1 r, scaled, so that T can hold what is left. The seconds of it that count or not.
template <class T>
double correct(WatchedRun& run, TiledFactors<T>& factors, const SolutionToJudge<T>& solution,
               const std::vector<double>& residual) {
  double size = 0, seconds = 0;
  for (const double r : residual) size = std::max(size, std::abs(r));
  std::vector<T> correction(residual.size());
  std::ranges::transform(residual, correction.begin(), [size](double r) { return static_cast<T>(r / size); });
  {
    linalg::DealtColumns<T> d(run.runtime(), "correction", correction.data(), solution.a->rows(),
                              solution.columns, solution.tile, solution.distribution);
    run.begin("refinement", factors.solve_tasks(d.tiles().tile_columns()));
    run.compute([&](auto& front) { factors.solve(front, d.tiles()); });
    run.wait();
    d.bring_back();
    seconds = solution.counts ? run.end() : run.end_aside();
  }
  for (std::size_t i = 0; i < correction.size(); ++i)
    solution.x[i] =
        static_cast<T>(static_cast<double>(solution.x[i]) + size * static_cast<double>(correction[i]));
  return seconds;
}

}  // namespace

template <class T>
RefinedSteps judge_and_refine(WatchedRun& run, const linalg::Kernels& kernels, TiledFactors<T>& factors,
                              const SolutionToJudge<T>& solution) {
  const std::int64_t n = solution.a->rows();
  std::vector<double> residual;
  if (solution.may_refine) residual.resize(static_cast<std::size_t>(n * solution.columns));
  std::vector<T> best;
  RefinedSteps judged;
  double seconds = 0;
  for (int step = 0;; ++step) {
    run.begin("error check", linalg::BackwardError<T>::tasks(n));
    linalg::BackwardError<T> error(kernels, solution.a, solution.b, solution.x, solution.columns,
                                   solution.may_refine ? residual.data() : nullptr);
    error.submit(run.flow(), run.runtime().rank(), solution.readers);
    run.end_aside();
    error.bring_together(run.runtime());
    const bool halved = step == 0 || error.value() <= judged.backward_error / 2;
    if (step > 0 && !(error.value() < judged.backward_error)) {  // no better: as it was
      std::ranges::copy(best, solution.x);
      judged.seconds = seconds;
      return judged;
    }
    judged = {.backward_error = error.value(),
              .matrix_norm = error.matrix_norm(),
              .steps = step,
              .seconds = seconds,
              .first_backward_error = step == 0 ? error.value() : judged.first_backward_error,
              .uncertain_residual = error.uncertain_residual()};
    if (!solution.may_refine || !halved || error.value() <= solution.limit || step == most_steps ||
        !std::isfinite(error.value()))
      return judged;
    best.assign(solution.x, solution.x + n * solution.columns);
    const double of_step = correct(run, factors, solution, residual);
    if (solution.counts) seconds += of_step;
  }
}

template RefinedSteps judge_and_refine<float>(WatchedRun&, const linalg::Kernels&, TiledFactors<float>&,
                                              const SolutionToJudge<float>&);
template RefinedSteps judge_and_refine<double>(WatchedRun&, const linalg::Kernels&, TiledFactors<double>&,
                                               const SolutionToJudge<double>&);

}  // namespace fairlead::app
