// First tries a bound by norms, then one by estimated singular values; computes the singular values if both
// fail.
#include "solver/rank_decision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/linalg/singular_value_estimates.hpp"

namespace fairlead::solver {

namespace {

/// True if the smallest singular value is certainly above `tolerance` times the largest. The largest is at
/// most the Frobenius norm; the inverse of the smallest is at most sqrt(n) || R^-1 ||, which is estimated up
/// to `error_factor`.
bool is_regular(const linalg::TriangleNorms& r, double inverse_norm, std::int64_t n, double tolerance) {
  constexpr double error_factor = 3;
  if (tolerance == 0) return true;  // the caller has checked that the diagonal of R has no zero
  return tolerance * r.frobenius * (error_factor * std::sqrt(static_cast<double>(n)) * inverse_norm) <
         1;  // false for NaN
}

/// The same test with tighter estimates. Norms are too far from singular values in single precision, or with
/// many columns.
template <class T>
bool is_regular_by_estimates(Execution& run, const linalg::Kernels& kernels, const TiledMatrix<T>& a,
                             double tolerance) {
  using Estimates = linalg::SingularValueEstimates<T>;
  run.begin("singular value estimates", Estimates::tasks(a));
  Estimates estimates(run.runtime(), kernels, a);
  const auto wait = [&run] { run.wait(); };
  const double smallest = estimates.smallest(run.flow(), wait), largest = estimates.largest(run.flow(), wait);
  run.end_uncounted();
  const double error_factor = Estimates::max_error_factor(a.columns());
  return largest * error_factor * tolerance < smallest / error_factor;  // false for NaN and 0
}

}  // namespace

template <class T>
RankDecision<T>::RankDecision(Execution& run, const linalg::Kernels& kernels, const TiledMatrix<T>& a,
                              double tolerance, const std::function<double()>& inverse_norm, bool of_rows)
    : run_(run),
      rank_{.rank = a.columns(), .columns = a.columns(), .of_rows = of_rows, .tolerance = tolerance} {
  linalg::TriangleNorms r;
  {
    run_.begin("size of R", linalg::TriangleNorm<T>::tasks(a));
    linalg::TriangleNorm<T> sizes(run_.runtime(), a);
    sizes.submit(run_.flow());
    run_.end_uncounted();
    r = sizes.combine_ranks();
  }
  if (!run_.computes()) {  // independent columns are assumed
    static_cast<void>(inverse_norm());
    return;
  }
  if (!std::isfinite(r.largest)) return;  // the solve reports where R is not finite
  // The smallest singular value is no larger than an element of the diagonal.
  if (r.least_diagonal > tolerance * r.frobenius) {
    const double inverse_norm_of_r = inverse_norm();
    condition_ = r.norm * inverse_norm_of_r;
    if (is_regular(r, inverse_norm_of_r, a.columns(), tolerance)) return;
    if (std::isfinite(inverse_norm_of_r) && is_regular_by_estimates(run_, kernels, a, tolerance)) return;
  }
  minimum_ = std::make_unique<linalg::MinimumNorm<T>>(run_.runtime(), kernels, a, r.largest, tolerance);
  run_.begin("singular values", minimum_->tasks(), minimum_->flops());
  const linalg::Spectrum found = minimum_->decompose(run_.flow(), wait());
  seconds_ += run_.end();
  rank_.rank = found.rank;
  rank_.values = {found.largest, found.smallest_kept, found.largest_dropped};
  condition_ = found.rank > 0 ? found.largest / found.smallest_kept : 1;
  if (!is_reduced()) {
    minimum_.reset();  // frees its memory
    return;
  }
  run_.warn(
      fmt::format("the {} of the matrix are linearly dependent: {}. --rank-tolerance sets "
                  "which singular values count as zero",
                  of_rows ? "rows" : "columns", text_of(rank_)));
}

template <class T>
Bytes RankDecision<T>::bytes(std::int64_t n) noexcept {
  return linalg::TriangleNorm<T>::bytes(n) +
         std::max<Bytes>(linalg::InverseNorm<T>::bytes(n), linalg::SingularValueEstimates<T>::bytes(n));
}

template <class T>
void RankDecision<T>::solve(T* b, std::int64_t ld, std::int64_t columns) {
  minimum_->solve(run_.flow(), wait(), b, ld, columns);
}

template <class T>
void RankDecision<T>::solve_adjoint(T* b, std::int64_t ld, std::int64_t columns) {
  minimum_->solve(run_.flow(), wait(), b, ld, columns, linalg::MinimumNorm<T>::Form::adjoint);
}

template <class T>
std::vector<double> RankDecision<T>::norms_within_rows(const WideOf<T>* columns_of_n, std::int64_t columns) {
  return minimum_->projected(run_.flow(), wait(), columns_of_n, rank_.columns, columns, Space::rows);
}

template <class T>
void RankDecision<T>::restrict(linalg::LeastSquaresError<T>& error, std::int64_t ld, std::int64_t columns) {
  const std::int64_t n = rank_.columns;
  const auto normal = error.normal_residual(), rotated = error.rotated_residual();
  auto of_rows = minimum_->projected(run_.flow(), wait(), normal.data(), n, columns, Space::rows);
  auto of_columns = minimum_->projected(run_.flow(), wait(), rotated.data(), ld, columns, Space::columns);
  error.restrict_to(std::move(of_rows), std::move(of_columns));
}

template class RankDecision<float>;
template class RankDecision<double>;
template class RankDecision<std::complex<float>>;
template class RankDecision<std::complex<double>>;

}  // namespace fairlead::solver
