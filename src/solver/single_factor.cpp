// See single_factor.hpp.
#include "solver/single_factor.hpp"

#include <fairlead/refined_solve.hpp>

#include <algorithm>
#include <complex>

#include "algorithms/linalg/column_block.hpp"
#include "algorithms/linalg/larger.hpp"
#include "solver/inverse_estimate.hpp"

namespace fairlead::solver {

namespace {

using linalg::RefinedSolve;

template <class Single>
[[noreturn]] void give_up_refinement(Execution& run, const RefinedSolve<Single>& solve,
                                     std::string_view factor) {
  const double seconds = run.end();
  try {
    linalg::throw_too_coarse(solve, factor);
  } catch (const NumericalError& error) {
    throw FactorTooCoarse(error.what(), seconds);
  }
}

}  // namespace

template <class Single>
SingleFactorSolution<Single> solve_by_single_factor(Execution& run, const linalg::Kernels& kernels,
                                                    const TiledMatrix<Single>& l,
                                                    TiledFactors<Single>& factors,
                                                    const SystemToRefine<Single>& system) {
  using State = typename RefinedSolve<Single>::State;
  const std::int64_t n = l.rows();
  SingleFactorSolution<Single> found;
  run.begin("refined solve");
  const auto solve_block = [&](std::int64_t first, std::int64_t count) {
    RefinedSolve<Single> solve(
        run.runtime(), kernels, l, system.a(),
        std::make_shared<linalg::ColumnBlock<WideOf<Single>>>(system.b(), first, count), system.x + first * n,
        system.readers);
    State state = State::improving;
    while (state == State::improving) {
      solve.submit_correction(run.flow(), found.inverse.get());
      run.wait();
      solve.submit_residual(run.flow());
      run.wait();
      state = solve.evaluate_step();
      if (solve.steps() == 1)
        found.first_backward_error = linalg::larger(found.first_backward_error, solve.backward_error());
      // Refining changes the residual, but |A| |x| hardly.
      if (system.wants_condition && !found.inverse) {
        found.weights = weights_of(solve.sizes());
        found.inverse = std::make_unique<linalg::InverseNorm<Single>>(run.runtime(), n, l.tile(),
                                                                      factors.inverse(), found.weights);
      }
    }
    if (state == State::too_coarse) give_up_refinement(run, solve, system.factor_name);
    found.matrix_norm = solve.matrix_norm();
    found.backward_error = std::max(found.backward_error, solve.backward_error());
    found.steps = std::max(found.steps, solve.steps());
    const std::vector<double> of_block = solve.uncertain_residual();
    found.uncertain.resize(of_block.size());
    std::ranges::transform(found.uncertain, of_block, found.uncertain.begin(), linalg::larger);
  };
  linalg::for_each_block(system.columns, linalg::columns_of_block(n, system.columns), solve_block);
  found.seconds = run.end();
  return found;
}

template SingleFactorSolution<float> solve_by_single_factor(Execution&, const linalg::Kernels&,
                                                            const TiledMatrix<float>&, TiledFactors<float>&,
                                                            const SystemToRefine<float>&);
template SingleFactorSolution<std::complex<float>> solve_by_single_factor(
    Execution&, const linalg::Kernels&, const TiledMatrix<std::complex<float>>&,
    TiledFactors<std::complex<float>>&, const SystemToRefine<std::complex<float>>&);

}  // namespace fairlead::solver
