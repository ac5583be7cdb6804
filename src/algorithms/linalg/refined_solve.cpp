// A step of iterative refinement: the residual, scaled to 1 to avoid overflow and underflow in single precision, is
// solved for with the factor, and the correction is added to the solution.
#include <fairlead/error.hpp>
#include <fairlead/refined_solve.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/factored_solve.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;
constexpr int most_steps = 30;

}  // namespace

template <class Single>
class RefinedSolve<Single>::Implementation {
 public:
  Implementation(Runtime& runtime, Kernels kernels, const TiledMatrix<Single>& l,
                 std::shared_ptr<const MatrixSource<Wide>> a, std::shared_ptr<const MatrixSource<Wide>> b,
                 Wide* x, std::uint32_t readers)
      : runtime_(runtime),
        readers_(readers),
        kernels_(std::move(kernels)),
        l_(l),
        a_(std::move(a)),
        b_(std::move(b)),
        x_(x),
        n_(b_->rows()),
        columns_(b_->columns()),
        residual_(elements()),
        correction_(elements()),
        scale_(static_cast<std::size_t>(columns_)) {
    if (a_->rows() != l.rows() || a_->columns() != l.columns() || n_ != l.rows())
      throw UsageError(
          fmt::format("a factor of {} x {}, a matrix of {} x {} and right-hand sides of {} x {} do not match",
                      l.rows(), l.columns(), a_->rows(), a_->columns(), n_, columns_));
    if (runtime.rank() < readers) b_->read(0, n_, 0, columns_, residual_.data(), n_);
    if (readers == 1) allgather_bands(runtime, residual_.data(), n_, columns_, l.tile(), 1);
    std::fill_n(x_, elements(), Wide(0));
  }

  void submit_correction(Flow& flow, InverseNorm<Single>* condition_estimate) {
    for (std::int64_t c = 0; c < columns_; ++c) {
      const Wide* const column = residual_.data() + c * n_;
      double largest = 0;
      for (std::int64_t i = 0; i < n_; ++i) largest = std::max(largest, magnitude(column[i]));
      scale_[static_cast<std::size_t>(c)] = largest > 0 ? largest : 1;
    }
    for (std::int64_t c = 0; c < columns_; ++c)
      for (std::int64_t i = 0; i < n_; ++i)
        correction_[place(i, c)] = scalar_cast<Single>(residual_[place(i, c)] / scale(c));
    distributed_.emplace(runtime_, "correction", correction_.data(), n_, columns_, l_.tile(),
                         l_.distribution());
    const TiledMatrix<Single>& tiles = distributed_->tiles();
    if (condition_estimate != nullptr && !condition_estimate->done()) {
      condition_estimate->submit_vectors(flow);
      solve_factored(flow, kernels_, Factors::cholesky, l_, {&tiles, &condition_estimate->vectors()});
      condition_estimate->submit_evaluation(flow);
    } else {
      solve_factored(flow, kernels_, l_, tiles);
    }
    condition_estimate_ = condition_estimate;
  }

  void submit_residual(Flow& flow) {
    if (condition_estimate_ != nullptr) std::exchange(condition_estimate_, nullptr)->combine_ranks();
    distributed_->gather();
    distributed_.reset();
    correction_before_ = correction_size_;
    correction_size_ = 0;
    for (std::int64_t c = 0; c < columns_; ++c)
      for (std::int64_t i = 0; i < n_; ++i) {
        Wide& x = x_[place(i, c)];
        const Wide correction = scale(c) * scalar_cast<Wide>(correction_[place(i, c)]);
        x += correction;
        if (x != Wide(0)) correction_size_ = std::max(correction_size_, magnitude(correction) / magnitude(x));
      }
    error_.emplace(kernels_, a_, b_, x_, columns_, residual_.data());
    error_->submit(flow, runtime_.rank(), readers_);
  }

  State judge() {
    error_->combine_ranks(runtime_);
    const double before = backward_error_;
    backward_error_ = error_->value();
    ++steps_;
    if (backward_error_ <= 4 * rounding && (components_have_converged() || steps_ == most_steps))
      return State::converged;
    const bool better = steps_ == 1 || backward_error_ <= 4 * rounding || backward_error_ <= before / 2;
    if (std::isfinite(backward_error_) && better && steps_ < most_steps) return State::improving;
    const bool good = backward_error_ <= std::sqrt(static_cast<double>(n_)) * rounding;
    return good ? State::converged : State::too_coarse;
  }

  int steps() const noexcept { return steps_; }
  double backward_error() const noexcept { return backward_error_; }
  std::vector<double> uncertain_residual() const { return error_->residual_bound(); }
  std::vector<double> sizes() const { return error_->magnitudes(); }
  double matrix_norm() const noexcept { return error_ ? error_->matrix_norm() : 0; }

 private:
  /// The backward error is relative to the largest element of A, so it may hide errors of some components of x.
  /// Refinement stops if corrections no longer shrink, or if their rate predicts that the next one is below a rounding
  /// in every component (Demmel, Hida, Kahan, Li, Mukherjee, Riedy 2006, "Error bounds from extra-precise iterative
  /// refinement").
  bool components_have_converged() const noexcept {
    if (steps_ == 1) return correction_size_ == 0;  // the first correction is x itself
    const double rate = correction_size_ / correction_before_;
    return !(rate <= 0.5) || correction_size_ * rate <= 2 * rounding;
  }
  std::size_t elements() const noexcept { return static_cast<std::size_t>(n_ * columns_); }
  std::size_t place(std::int64_t i, std::int64_t j) const noexcept {
    return static_cast<std::size_t>(i + j * n_);
  }
  double scale(std::int64_t column) const noexcept { return scale_[static_cast<std::size_t>(column)]; }

  Runtime& runtime_;
  std::uint32_t readers_;  // the number of ranks that read the matrices
  Kernels kernels_;
  const TiledMatrix<Single>& l_;
  std::shared_ptr<const MatrixSource<Wide>> a_, b_;
  Wide* x_;
  std::int64_t n_, columns_;
  std::vector<Wide> residual_;
  std::vector<Single> correction_;
  std::vector<double> scale_;  // per column of the residual
  std::optional<DistributedColumns<Single>>
      distributed_;  // correction_, between submit_correction() and submit_residual()
  InverseNorm<Single>* condition_estimate_ = nullptr;  // set during the same time
  std::optional<BackwardError<Wide>> error_;
  int steps_ = 0;
  double backward_error_ = 0;
  // The largest ratio of a correction to the component that it corrects, of this step and the previous one.
  double correction_size_ = 0, correction_before_ = 0;
};

template <class Single>
RefinedSolve<Single>::RefinedSolve(Runtime& runtime, Kernels kernels, const TiledMatrix<Single>& l,
                                   std::shared_ptr<const MatrixSource<Wide>> a,
                                   std::shared_ptr<const MatrixSource<Wide>> b, Wide* x,
                                   std::uint32_t readers)
    : implementation_(std::make_unique<Implementation>(runtime, std::move(kernels), l, std::move(a),
                                                       std::move(b), x, readers)) {}
template <class Single>
RefinedSolve<Single>::~RefinedSolve() = default;

template <class Single>
std::size_t RefinedSolve<Single>::bytes(std::int64_t n, std::int64_t columns, std::size_t workers) noexcept {
  return static_cast<std::size_t>(n * columns) * (sizeof(Wide) + sizeof(Single)) +
         BackwardError<Wide>::bytes(n) + workers * BackwardError<Wide>::scratch_bytes_per_worker(n, columns);
}
template <class Single>
void RefinedSolve<Single>::submit_correction(Flow& flow, InverseNorm<Single>* condition_estimate) {
  implementation_->submit_correction(flow, condition_estimate);
}
template <class Single>
void RefinedSolve<Single>::submit_residual(Flow& flow) {
  implementation_->submit_residual(flow);
}
template <class Single>
typename RefinedSolve<Single>::State RefinedSolve<Single>::evaluate_step() {
  return implementation_->judge();
}
template <class Single>
int RefinedSolve<Single>::steps() const noexcept {
  return implementation_->steps();
}
template <class Single>
std::vector<double> RefinedSolve<Single>::uncertain_residual() const {
  return implementation_->uncertain_residual();
}
template <class Single>
std::vector<double> RefinedSolve<Single>::sizes() const {
  return implementation_->sizes();
}
template <class Single>
double RefinedSolve<Single>::backward_error() const noexcept {
  return implementation_->backward_error();
}
template <class Single>
double RefinedSolve<Single>::matrix_norm() const noexcept {
  return implementation_->matrix_norm();
}

template <class Single>
RefinedSolution solve_refined(Flow& flow, Runtime& runtime, const Kernels& kernels,
                              const TiledMatrix<Single>& l,
                              std::shared_ptr<const MatrixSource<Refined<Single>>> a,
                              std::shared_ptr<const MatrixSource<Refined<Single>>> b, Refined<Single>* x) {
  using State = typename RefinedSolve<Single>::State;
  RefinedSolve<Single> solve(runtime, kernels, l, std::move(a), std::move(b), x);
  wait_for_results(flow);
  for (;;) {
    solve.submit_correction(flow);
    wait_for_results(flow);
    solve.submit_residual(flow);
    wait_for_results(flow);
    const State state = solve.evaluate_step();
    if (state == State::too_coarse) throw_too_coarse(solve);
    if (state == State::converged) return {solve.steps(), solve.backward_error()};
  }
}

template <class Single>
void throw_too_coarse(const RefinedSolve<Single>& solve, std::string_view factor) {
  throw NumericalError(
      fmt::format("the matrix is too ill-conditioned for a factor in {}: after {} step{} of refinement the "
                  "backward error is {:.1e}",
                  factor, solve.steps(), solve.steps() == 1 ? "" : "s", solve.backward_error()));
}

#define FAIRLEAD_REFINED_SOLVE_OF(Single)                                      \
  template class RefinedSolve<Single>;                                         \
  template RefinedSolution solve_refined<Single>(                              \
      Flow&, Runtime&, const Kernels&, const TiledMatrix<Single>&,             \
      std::shared_ptr<const MatrixSource<Refined<Single>>>,                    \
      std::shared_ptr<const MatrixSource<Refined<Single>>>, Refined<Single>*); \
  template void throw_too_coarse<Single>(const RefinedSolve<Single>&, std::string_view);
FAIRLEAD_REFINED_SOLVE_OF(float)
FAIRLEAD_REFINED_SOLVE_OF(std::complex<float>)
#undef FAIRLEAD_REFINED_SOLVE_OF

}  // namespace fairlead::linalg
