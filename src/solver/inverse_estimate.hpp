// Estimates the condition number of a square matrix and bounds the forward error of the solution, from the
// factors. The estimate is a phase of the run. If the factors are inaccurate, the estimate is checked with A
// itself.
#pragma once
#include <fairlead/inverse_norm.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/scalar.hpp"
#include "solver/execution.hpp"
#include "solver/trust.hpp"

namespace fairlead::solver {

/// The factored system of an estimate, with factors of type T.
template <class T>
struct FactoredSystem {
  const linalg::Kernels& kernels;
  std::shared_ptr<const linalg::MatrixSource<WideOf<T>>> a;
  double matrix_norm;         ///< || A || in the infinity norm
  double factor_error;        ///< the backward error of a solution without refinement
  double epsilon;             ///< machine epsilon of the factors' type
  std::uint32_t readers = 1;  ///< number of ranks that read A: all, or 1
};

struct InverseEstimate {
  double condition = 0;  ///< || A || || A^-1 || in the infinity norm
  double weighted = 0;   ///< || A^-1 diag(w) ||, as InverseNorm::weighted_value(); infinite if unknown
  double seconds = 0;    ///< of the phase; 0 if no step remained
  int sweeps = 0;        ///< over the factors
};

/// Runs the remaining steps as a phase of the run; returns its seconds, 0 if none remained.
template <class T>
double finish_estimate(Execution& run, linalg::InverseNorm<T>& inverse);

/// Runs the remaining steps of `inverse`. If || A^-1 || times the error of the factors is more than a
/// hundredth, reads A again: lowers the condition to the value that the rows of the inverse prove, and raises
/// the bound by their error.
template <class T>
InverseEstimate estimate_inverse(Execution& run, linalg::InverseNorm<T>& inverse,
                                 const FactoredSystem<T>& system, int sweeps_per_step);

/// Whether the error of the factors may change the estimate noticeably: then it is checked with A.
bool needs_check(const InverseEstimate& estimate, double factor_error, double epsilon) noexcept;

/// The report of the estimate for a solution of `columns` columns. The bound of its error is `times` that of the weights.
report::ConditionReport report_of(const InverseEstimate& estimate, double times, std::int64_t columns,
                                  const SolvePrecision& precision);
/// The same. Warns the user if little of the solution can be trusted.
report::ConditionReport report_estimate(Execution& run, const InverseEstimate& estimate, double times,
                                        std::int64_t columns, const SolvePrecision& precision);

/// Bytes of memory in addition to the tiles of the factors.
template <class T>
Bytes inverse_estimate_bytes(std::int64_t n) noexcept {
  // The vectors, twice for the check; weights before and after, and shares.
  return 2 * linalg::InverseNorm<T>::bytes(n, true) + static_cast<Bytes>(3 * n) * sizeof(double);
}

/// The largest quotient of elements with the same index. A zero numerator counts as 0. Infinite if a quotient
/// is not a number, or if the sizes differ.
double largest_quotient(const std::vector<double>& numerators, const std::vector<double>& denominators);

/// `uncertain` as the weights of an estimate; empty if an element is not finite, since then no bound exists.
std::vector<double> weights_of(std::vector<double> uncertain);

}  // namespace fairlead::solver
