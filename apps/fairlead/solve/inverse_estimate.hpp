// The condition of a square matrix and the bound of the solution's error, from the factors: the steps of the
// estimate as a phase of the run, and a check of what they found where the factors are those of another
// matrix.
#pragma once
#include <fairlead/inverse_norm.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_source.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/run/watched_run.hpp"
#include "fairlead/solve/trust.hpp"

namespace fairlead::app {

/// The factored system of an estimate.
struct FactoredSystem {
  const linalg::Kernels& kernels;
  std::shared_ptr<const linalg::MatrixSource<double>> a;
  double matrix_norm;         ///< || A || in the infinity norm
  double factor_error;        ///< the backward error of a solution by the factors, not refined
  double epsilon;             ///< of the type of the factors
  std::uint32_t readers = 1;  ///< ranks that read A, all or the first
};

struct InverseEstimate {
  double condition = 0;  ///< || A || || A^-1 || in the infinity norm
  double weighted =
      0;  ///< || A^-1 diag(w) ||, as of InverseNorm::weighted_value(); infinite if nothing is known
  double seconds = 0;  ///< of the phase; 0 if no step was left
  int sweeps = 0;      ///< over the factors
};

/// Runs the remaining steps as a phase of the run; returns its seconds, 0 if none remained.
template <class T>
double finish_estimate(WatchedRun& run, linalg::InverseNorm<T>& inverse);

/// Runs the remaining steps of `inverse`. If || A^-1 || times the error of the factors is more than a
/// hundredth, reads A again: lowers the condition to what the rows of the inverse prove, and raises the bound
/// by their error.
template <class T>
InverseEstimate estimate_inverse(WatchedRun& run, linalg::InverseNorm<T>& inverse,
                                 const FactoredSystem& system, int sweeps_per_step);

/// The report of the estimate for a solution of `columns` columns. The bound of its error is `times` that of
/// the weights. Warns the user if little of the solution can be trusted.
report::ConditionReport report_estimate(WatchedRun& run, const InverseEstimate& estimate, double times,
                                        std::int64_t columns, const SolvePrecision& precision);

/// Bytes of memory in addition to the tiles of the factors.
template <class T>
Bytes inverse_estimate_bytes(std::int64_t n) noexcept {
  // The vectors, twice for the check; weights before and after, and shares.
  return 2 * linalg::InverseNorm<T>::bytes(n, true) + static_cast<Bytes>(3 * n) * sizeof(double);
}

/// The least factor for which no number of `of` is more than that many times the one of `by`; infinite if
/// `by` is empty.
double largest_quotient(const std::vector<double>& of, const std::vector<double>& by);

/// `uncertain` as weights of an estimate: nothing if one of them is not finite, for which there is no bound.
std::vector<double> weights_of(std::vector<double> uncertain);

}  // namespace fairlead::app
