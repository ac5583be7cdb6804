// Solves in double precision with a Cholesky factor in single precision, by refinement: RefinedSolve, block by
// block of the right-hand sides.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/inverse_norm.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/scalar.hpp"
#include "solver/execution.hpp"
#include "solver/tiled_factors.hpp"

namespace fairlead::solver {

/// The factor is too coarse for refinement to converge: all ranks throw it.
class FactorTooCoarse : public NumericalError {
 public:
  FactorTooCoarse(const std::string& text, double seconds) : NumericalError(text), seconds_(seconds) {}
  double seconds() const noexcept { return seconds_; }  ///< of the phase

 private:
  double seconds_;
};

/// Single: float or std::complex<float>, of the factor.
template <class Single>
struct SystemToRefine {
  using Wide = WideOf<Single>;
  std::function<std::shared_ptr<const linalg::MatrixSource<Wide>>()> a, b;  ///< called for each block
  Wide* x;  ///< receives the solution, one column after the other
  std::int64_t columns;
  bool wants_condition;
  std::string_view factor_name;  ///< for errors: "single precision"
  std::uint32_t readers = 1;     ///< ranks that read A and b: all or the first
};

template <class Single>
struct SingleFactorSolution {
  double backward_error = 0, first_backward_error = 0;  ///< the largest; of the factor alone
  double matrix_norm = 0;                               ///< the largest sum of a row
  int steps = 0;
  double seconds = 0;  ///< of the phase
  std::unique_ptr<linalg::InverseNorm<Single>>
      inverse;                    ///< if the condition is wanted; its first step may be done
  std::vector<double> weights;    ///< of the inverse
  std::vector<double> uncertain;  ///< of the solution, the largest over the blocks
};

/// `l`: the factored tiles of `factors`. Throws FactorTooCoarse.
template <class Single>
SingleFactorSolution<Single> solve_by_single_factor(Execution& run, const linalg::Kernels& kernels,
                                                    const TiledMatrix<Single>& l,
                                                    TiledFactors<Single>& factors,
                                                    const SystemToRefine<Single>& system);

}  // namespace fairlead::solver
