// See inverse_estimate.hpp.
#include "solver/inverse_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "algorithms/linalg/inverse_residual.hpp"

namespace fairlead::solver {

namespace {

constexpr double large_part = 0.01;  // relative change of rows of the inverse by the error of the factors
constexpr double all_lost = 0.9;
constexpr const char* estimate_phase = "condition estimate";

/// The weight of a component of the error in the bound, at most 1: in graded systems most components are tiny
/// compared with the largest. Sums with random signs of n elements grow as the root of n, typically.
std::vector<double> shares_of(const std::vector<double>& reach) {
  double largest = 0;
  for (const double one : reach) largest = std::isnan(one) || one > largest ? one : largest;
  std::vector<double> shares(reach.size(), 1);
  if (!(largest > 0) || std::isinf(largest)) return shares;
  const double root = std::sqrt(static_cast<double>(reach.size()));
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = std::min(1.0, root * (reach[i] / largest));
  return shares;
}

/// The rows of the inverse, computed with A itself.
template <class T>
void check_rows(Execution& run, linalg::InverseNorm<T>& inverse, const FactoredSystem<T>& system,
                InverseEstimate& estimate) {
  const std::vector<linalg::RowOfInverse> rows = inverse.rows();
  std::vector<std::int64_t> places;
  for (const auto& row : rows) places.push_back(row.row);
  const std::vector<T> elements = inverse.elements();
  std::vector<double> shares = shares_of(inverse.weighted_row_maxima());
  shares.resize(static_cast<std::size_t>(system.a->columns()), 1);
  linalg::InverseResidual<T> residual(system.kernels, system.a, elements, places, shares);
  run.begin(estimate_phase, residual.tasks());
  residual.submit(run.flow(), run.runtime().rank(), system.readers);
  run.wait();
  residual.combine_ranks(run.runtime());
  double proved = 0, weighted = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double product = residual.products()[i], inverse_error = residual.residuals()[i];
    if (const double norm = rows[i].sum / product; std::isfinite(product) && norm > proved) proved = norm;
    const double raised = inverse_error < all_lost ? rows[i].weighted_sum / (1 - inverse_error) : HUGE_VAL;
    weighted = std::max(weighted, std::isfinite(raised) ? raised : HUGE_VAL);
  }
  estimate.condition = system.matrix_norm * proved;
  estimate.weighted = std::max(weighted, estimate.weighted);
}

}  // namespace

std::vector<double> weights_of(std::vector<double> uncertain) {
  const bool known = std::ranges::all_of(uncertain, [](double one) { return std::isfinite(one); });
  return known ? std::move(uncertain) : std::vector<double>{};
}

double largest_quotient(const std::vector<double>& numerators, const std::vector<double>& denominators) {
  if (numerators.size() != denominators.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < numerators.size(); ++i)
    if (numerators[i] != 0) {
      const double quotient = numerators[i] / denominators[i];
      largest = std::isnan(quotient) ? HUGE_VAL : std::max(largest, quotient);
    }
  return largest;
}

template <class T>
double finish_estimate(Execution& run, linalg::InverseNorm<T>& inverse) {
  if (inverse.done()) return 0;
  const int left = linalg::InverseNorm<T>::steps - inverse.steps_done();
  run.begin(estimate_phase, static_cast<std::uint64_t>(left) * inverse.tasks());
  while (!inverse.done()) {
    inverse.submit(run.flow());
    run.wait();
    inverse.combine_ranks();
  }
  return run.end_uncounted();
}

template <class T>
InverseEstimate estimate_inverse(Execution& run, linalg::InverseNorm<T>& inverse,
                                 const FactoredSystem<T>& system, int sweeps_per_step) {
  InverseEstimate estimate;
  const int left = linalg::InverseNorm<T>::steps - inverse.steps_done();
  estimate.sweeps = left * sweeps_per_step;
  estimate.seconds = finish_estimate(run, inverse);
  estimate.condition = system.matrix_norm * inverse.value();
  estimate.weighted = inverse.weighted_value();
  if (std::isfinite(inverse.value()) && needs_check(estimate, system.factor_error, system.epsilon)) {
    check_rows(run, inverse, system, estimate);
    estimate.seconds += run.end_uncounted();
  }
  return estimate;
}

bool needs_check(const InverseEstimate& estimate, double factor_error, double epsilon) noexcept {
  // Factors have rounding errors even if the residual of a solution happens to be zero.
  return !(estimate.condition * std::max(factor_error, epsilon / 2) <= large_part);
}

report::ConditionReport report_of(const InverseEstimate& estimate, double times, std::int64_t columns,
                                  const SolvePrecision& precision) {
  auto report = condition_report(estimate.condition, times * estimate.weighted, precision);
  report.singular = is_singular(report, precision);
  report.columns = static_cast<std::uint64_t>(columns);
  report.seconds = estimate.seconds;
  report.sweeps = estimate.sweeps;
  return report;
}

report::ConditionReport report_estimate(Execution& run, const InverseEstimate& estimate, double times,
                                        std::int64_t columns, const SolvePrecision& precision) {
  const auto report = report_of(estimate, times, columns, precision);
  if (const std::string warning = condition_warning(report, precision); !warning.empty()) run.warn(warning);
  return report;
}

template double finish_estimate<float>(Execution&, linalg::InverseNorm<float>&);
template double finish_estimate<double>(Execution&, linalg::InverseNorm<double>&);
template double finish_estimate<std::complex<float>>(Execution&, linalg::InverseNorm<std::complex<float>>&);
template double finish_estimate<std::complex<double>>(Execution&, linalg::InverseNorm<std::complex<double>>&);
template InverseEstimate estimate_inverse<float>(Execution&, linalg::InverseNorm<float>&,
                                                 const FactoredSystem<float>&, int);
template InverseEstimate estimate_inverse<double>(Execution&, linalg::InverseNorm<double>&,
                                                  const FactoredSystem<double>&, int);
template InverseEstimate estimate_inverse<std::complex<float>>(Execution&,
                                                               linalg::InverseNorm<std::complex<float>>&,
                                                               const FactoredSystem<std::complex<float>>&,
                                                               int);
template InverseEstimate estimate_inverse<std::complex<double>>(Execution&,
                                                                linalg::InverseNorm<std::complex<double>>&,
                                                                const FactoredSystem<std::complex<double>>&,
                                                                int);

}  // namespace fairlead::solver
