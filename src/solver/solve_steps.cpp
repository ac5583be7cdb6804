// See solve_steps.hpp.
#include "solver/solve_steps.hpp"

#include <fairlead/inverse_norm.hpp>
#include <fairlead/pivoted_lu.hpp>
#include <fairlead/refined_solve.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/column_scales.hpp"
#include "algorithms/linalg/distributed_columns.hpp"
#include "algorithms/linalg/element_sizes.hpp"
#include "algorithms/linalg/least_squares_error.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "base/bytes_text.hpp"
#include "machine/machine.hpp"
#include "solver/choose_method.hpp"
#include "solver/inverse_estimate.hpp"
#include "solver/minimum_norm_check.hpp"
#include "solver/positive_diagonal.hpp"
#include "solver/read_vectors.hpp"
#include "solver/refined_steps.hpp"
#include "solver/single_factor.hpp"
#include "solver/solution_checks.hpp"

namespace fairlead::solver {

namespace {

using linalg::BackwardError;
using linalg::Elements;
using linalg::LeastSquaresError;

constexpr std::size_t widest_tile = 2048;  // largest tile that is chosen; --tile may exceed it

/// Why a method does not suit the matrix. `triangle`: that which holds all of its elements.
std::string reason_against_method(linalg::Stored triangle, const NumericalError& error) {
  return triangle != linalg::Stored::both ? reason_of_triangle(triangle) : without_advice(error.what());
}

/// Runs checks that read the values as stored.
template <class Check>
auto in_any_precision(const Check& check) {
  try {
    return check();
  } catch (const NumericalError& error) {
    throw NoPrecisionHelps(error.what());
  }
}

}  // namespace

template <class T>
SolveSteps<T>::SolveSteps(const LinearSystem& system, const SolveOptions& options, const Config& config,
                          const linalg::Kernels& kernels, const GridRank& place)
    : system_(system),
      checkpoint_(config),
      options_(checkpoint_.adopted(options, system.solution())),
      config_(config),
      place_(place),
      workers_(config.has("workers") ? config.count("workers") : machine::discover().workers),
      m_(system.long_side()),
      n_(system.short_side()),
      kernels_(kernels),
      a_(is_wide() ? system.a->transposed() : system.a) {
  if (is_wide() && options_.keep_factors)
    throw InputError(fmt::format(
        "{} has the shape {}: factors of a matrix with fewer rows than columns are not kept; factor "
        "its transpose",
        system.a->name(), data::shape_text(system.a->shape())));
  if (system_.factors != nullptr) {
    reserved_ = bytes_with_stored_factors();
    return;
  }
  Bytes needed = bytes_for(*options_.method);
  const bool has_fallback = options_.fallback != nullptr || options_.symmetric_fallback != nullptr;
  for (const DenseOperation* other : {options_.fallback, options_.symmetric_fallback})
    if (other != nullptr) needed = std::max(needed, bytes_for(*other));
  // Each step of refinement in another precision reads A, and so does a fallback. A stays in memory as far as there is
  // more than even a factor in double precision takes, or all tiles of the fallback.
  const bool refines = options_.factor != FactorPrecision::of_solution;
  const bool is_in_file = system_.a->version() != data::FileVersion{};
  if ((refines || (has_fallback && is_in_file)) && !system_.of_points() && place_.reads()) {
    const Bytes limit = config_.bytes("memory");
    const auto n = static_cast<Bytes>(n_);
    const Bytes tiles =
        refines ? n * (n + widest_tile) / 2 * sizeof(WideOf<T>) : n * (n + widest_tile) * sizeof(T);
    const Bytes others = needed + tiles / place_.count() * 9 / 8 + limit / 8;
    if (limit > others) kept_ = std::min(limit - others, system_.a->data_bytes());
  }
  reserved_ = needed + kept_;
  if (kept_ > 0) a_ = a_->keeping(kept_);
}

template <class T>
bool SolveSteps<T>::is_least_squares(const DenseOperation& method) const {
  return method.solve->least_squares && (m_ != n_ || options_.rank_tolerance);
}

template <class T>
SolvePrecision SolveSteps<T>::precision(const DenseOperation& method) const {
  return precision_of<T>(method, system_.solution());
}

template <class T>
std::shared_ptr<const linalg::MatrixSource<WideOf<T>>> SolveSteps<T>::right_hand_sides() const {
  return std::make_shared<linalg::StoredSource<WideOf<T>>>(system_.b, staging_of_vectors);
}

template <class T>
template <class Element>
std::unique_ptr<MatrixToSolve<Element>> SolveSteps<T>::matrix_of(
    const DenseOperation& method, std::shared_ptr<const data::StoredMatrix> file) const {
  if (system_.of_points()) return matrix_of_points<Element>(system_.kernel);
  if (const linalg::Stored triangle = method.solve->triangle; triangle != linalg::Stored::both) {
    // An upper triangular matrix has been recognized, or is stated.
    const bool is_known =
        triangle == linalg::Stored::upper || triangle == found_.triangle || triangle == system_.stored;
    return triangular_matrix<Element>(std::move(file), triangle,
                                      is_known ? OtherTriangle::is_ignored : OtherTriangle::is_zero);
  }
  if (method.solve->symmetric)
    return symmetric_matrix<Element>(
        std::move(file), system_.stored,
        method.solve->grows ? SymmetricKinds::hermitian_or_symmetric : SymmetricKinds::hermitian);
  return general_matrix<Element>(std::move(file), system_.stored, is_wide());
}

template <class T>
Bytes SolveSteps<T>::bytes_for(const DenseOperation& method) {
  const auto matrix = matrix_of<T>(method, a_);
  const bool in_other_precision = options_.factor != FactorPrecision::of_solution;
  const bool least_squares = is_least_squares(method);
  const std::int64_t at_once = linalg::columns_of_block(m_, columns());
  const Bytes tiling = in_other_precision ? matrix_of<SingleOf<T>>(method, a_)->tiling_bytes_per_worker() : 0;
  const Bytes checking = least_squares ? LeastSquaresError<T>::scratch_bytes_per_worker(m_, at_once)
                                       : BackwardError<T>::scratch_bytes_per_worker(
                                             n_, BackwardError<T>::preferred_columns(n_, columns()));
  const Bytes scratch = std::max<Bytes>({matrix->tiling_bytes_per_worker(), tiling,
                                         checking + matrix->source_bytes_per_worker() + staging_of_vectors});
  const Bytes vectors = static_cast<Bytes>(m_ * columns()) * sizeof(T);
  // A symmetric matrix in a file may turn out not to be quite symmetric.
  const bool may_refine = method.solve->grows || (method.solve->symmetric && !system_.of_points());
  const Bytes refining =
      std::max<Bytes>(in_other_precision ? linalg::RefinedSolve<SingleOf<T>>::bytes(n_, at_once, 0) : 0,
                      is_wide()       ? minimum_norm_check_bytes<T>(n_, m_, columns())
                      : least_squares ? LeastSquaresError<T>::bytes(m_, at_once)
                      : may_refine    ? refined_steps_bytes<T>(n_, columns())
                                      : 0);
  // Memory for the precision of the solution, as long as a factor in another one may fall back to it.
  const Bytes condition = options_.condition ? inverse_estimate_bytes<T>(n_) : 0;
  const Bytes judging = least_squares ? RankDecision<T>::bytes(n_) : BackwardError<T>::bytes(n_);
  return vectors + refining + judging + condition + matrix->bytes() + system_.a->memory_bytes() +
         system_.b->memory_bytes() + workers_ * scratch + linalg::source_staging_bytes;
}

/// Collective.
template <class T>
DenseProblem SolveSteps<T>::problem(const DenseOperation& method, ElementType element) {
  DenseProblem problem = own_problem(method, element);
  settle_tile(run_->runtime(), problem);
  if (method.solve->least_squares) problem.set_tree();
  problem.title = method.solve->title(problem);
  return problem;
}

/// With the tile that suits this rank.
template <class T>
DenseProblem SolveSteps<T>::own_problem(const DenseOperation& method, ElementType element) const {
  DenseProblem problem{.operation = &method,
                       .title = {},
                       .n = n_,
                       .m = m_ == n_ ? 0 : m_,
                       .element = element,
                       .own_products = kernels_.has_own_products(),
                       .made = system_.of_points(),
                       .memory_limit = config_.bytes("memory"),
                       .reserved = reserved_,
                       .ranks = place_.count()};
  problem.set_tile(config_, workers_);
  if (const auto tile = checkpoint_.tile(method, element); tile && !config_.has("tile")) problem.tile = *tile;
  return problem;
}

template <class T>
void SolveSteps<T>::read_right_hand_sides() {
  x_ = in_any_precision([&] { return vectors_of_all<T>(run_->runtime(), place_, *system_.b); });
  if (!is_wide()) return;
  // A^T x' = b' for the conjugate vectors, in columns that have room for x'.
  std::vector<T> longer(static_cast<std::size_t>(m_ * columns()));
  for (std::int64_t c = 0; c < columns(); ++c)
    std::transform(x_.begin() + c * n_, x_.begin() + (c + 1) * n_, longer.begin() + c * m_, conjugate<T>);
  x_ = std::move(longer);
}

template <class T>
SolveResult SolveSteps<T>::run(Execution& run) {
  run_ = &run;
  run.reached(Milestone::started);
  read_right_hand_sides();
  if constexpr (std::is_same_v<T, WideOf<T>>)
    if (is_single(system_.solution())) below_single_ = columns_below_single(x_.data(), m_, columns());
  std::string reason = options_.method_reason;
  try {
    solve_in_precisions();
  } catch (const NumericalError& error) {
    const DenseOperation* const other = fallback();
    if (other == nullptr || stage_ != Stage::factoring) throw;
    if (place_.alone()) {
      reason = solve_by_fallback(*other, error);
    } else {
      // Ranks start again together, in double precision first, unless no precision helps.
      const bool was_in_single = options_.factor != FactorPrecision::of_solution;
      if (was_in_single && dynamic_cast<const NoPrecisionHelps*>(&error) == nullptr) throw;
      std::string why = reason_against_method(found_.triangle, error);
      const DenseOperation& next = in_memory(*other, why);
      throw MethodUnsuitable(why, next);
    }
  }
  result_.method_reason = reason;
  result_.backward_error_limit = linalg::max_correct_backward_error<T>(m_);
  find_loss_in_file();
  return result_;
}

/// Returns the reason.
template <class T>
std::string SolveSteps<T>::solve_by_fallback(const DenseOperation& fallback, const NumericalError& error) {
  const double spent = result_.seconds + run_->give_up();
  result_ = {};
  result_.seconds = result_.given_up_seconds = spent;
  read_right_hand_sides();
  SolveOptions next = with_fallback(options_, fallback, reason_against_method(found_.triangle, error));
  if (options_.method == &triangular_operation) next.method_reason.clear();  // the caller gave the method
  next.method = &in_memory(fallback, next.method_reason);
  found_.is_symmetric = false;
  direct(*next.method);
  return next.method_reason;
}

/// The fallback, or incremental pivoting if memory is too small for it; then adds that to the reason.
template <class T>
const DenseOperation& SolveSteps<T>::in_memory(const DenseOperation& fallback, std::string& reason) {
  if (!fallback.factors_whole_panels || options_.fallback == nullptr) return fallback;
  const std::int32_t tile = own_problem(fallback, element_type_of<T>).tile;
  if (linalg::RowPivots<T>::panel_bytes(n_, tile) <= run_->runtime().capacity_bytes()) return fallback;
  reason += "; memory is too small for the columns of tiles that pivoting by columns needs at once";
  return incremental_lu_operation;
}

template <class T>
const DenseOperation* SolveSteps<T>::fallback() const noexcept {
  if (found_.is_symmetric && options_.symmetric_fallback != nullptr) return options_.symmetric_fallback;
  if (found_.triangle != linalg::Stored::both && options_.may_be_triangular)
    return found_.triangle == linalg::Stored::upper ? &upper_triangular_operation : &triangular_operation;
  // The triangles of a mean that differ too much are an error, whatever the method.
  return found_.is_symmetric || system_.stored == linalg::Stored::both ? options_.fallback : nullptr;
}

template <class T>
void SolveSteps<T>::solve_in_precisions() {
  if constexpr (std::is_same_v<T, WideOf<T>>) {
    const FactorPrecision first = options_.factor;
    Attempt attempt = Attempt::failed;
    if (first == FactorPrecision::tf32) attempt = refined(FactorPrecision::tf32, x_.data());
    if (attempt == Attempt::failed && first != FactorPrecision::of_solution)
      attempt = refined(FactorPrecision::single, x_.data());
    if (attempt == Attempt::succeeded) return;
  }
  system_.factors != nullptr ? with_stored_factors() : direct(*options_.method);
}

/// The matrix in tiles, factored.
template <class T>
template <class Element>
void SolveSteps<T>::factor(MatrixToSolve<Element>& matrix, const TiledMatrix<Element>& a,
                           TiledFactors<Element>& factors) {
  const DenseProblem& problem = result_.problem;
  stage_ = Stage::reading;
  const Bytes memory = least_of_ranks(run_->runtime(), run_->runtime().capacity_bytes());
  if (matrix.phase() != nullptr) {
    const linalg::ReadingRanks readers = place_.reading_ranks([this] { run_->wait(); });
    run_->begin(matrix.phase(), matrix.tasks(a, memory, readers));
    matrix.submit(run_->flow(), a, memory, readers);
    result_.seconds += run_->end();
  }
  stage_ = Stage::factoring;
  // A rank that finds the matrix unsuitable may end the run before the others do: each reports it as its own error.
  alike(place_.first() || options_.fallback != nullptr || options_.may_be_triangular, [&] {
    try {
      in_any_precision([&] { matrix.end_tiling(run_->runtime()); });
    } catch (const NumericalError&) {
      found_.is_symmetric = matrix.equals_transpose();
      if (!found_.is_symmetric) found_.triangle = matrix.triangle();
      throw;
    }
  });
  const SolveMethod& method = *problem.operation->solve;
  found_.is_symmetric = method.symmetric;
  factors.set_symmetry(matrix.symmetry());
  if (method.symmetric && method.grows) {
    linalg::ElementSizes<Element> sizes;
    run_->begin("growth", sizes.tasks(a, Elements::lower));
    sizes.submit(run_->flow(), a, Elements::lower);
    run_->end_uncounted();
    sizes.combine_ranks(run_->runtime());
    largest_in_symmetric_ = sizes.largest();
  } else if (method.symmetric && fallback() != nullptr) {
    // The factorization would find it later. Double precision may help: an element may be zero in single only.
    require_positive_diagonal(*run_, a);
  }
  run_->reached(Milestone::tiled);

  if (checkpoint_.is_wanted()) use_checkpoints(a, factors);
  run_->begin("factorization", problem.operation->tasks(problem), problem.flops());
  run_->compute([&](auto& front) { factors.factor(front); });
  result_.seconds += run_->end();
  stage_ = Stage::solved;
}

template <class T>
template <class Element>
void SolveSteps<T>::use_checkpoints(const TiledMatrix<Element>& a, TiledFactors<Element>& factors) {
  const DenseProblem& problem = result_.problem;
  if (run_->front() != Front::flow)
    throw ConfigError(fmt::format("checkpoints need --front flow, not {}", name_of(run_->front())));
  if (const std::string order = checkpoint_.task_order(problem); !order.empty())
    factors.set_task_order(order);
  const std::uint64_t digest = digest_of_some_tiles(run_->flow(), a, problem.operation->tiles);
  const std::uint64_t finished =
      run_->flow().use_checkpoints(identity_of(problem, system_, factors.task_order(), digest));
  run_->note(fmt::format("checkpoints every {} in {}, which takes {} of disk space",
                         config_.text("checkpoint-period"), config_.text("checkpoint"),
                         mebibytes(2 * problem.matrix_bytes())));
  if (finished != 0)
    run_->note(fmt::format("{} of {} tasks of the factorization are finished in the checkpoint", finished,
                           problem.operation->tasks(problem)));
}

template <class T>
void SolveSteps<T>::solve_with(const KeptFactors<T>& kept) {
  result_.seconds += solve_columns(*run_, kept, x_.data(), columns(),
                                   system_.factors != nullptr ? Sides::together : Sides::square);
}

template <class T>
void SolveSteps<T>::solve_with_reduced_rank(const KeptFactors<T>& kept, RankDecision<T>& rank) {
  const linalg::ColumnScales<T> scales(x_.data(), m_, columns());
  {
    linalg::DistributedColumns<T> x(run_->runtime(), "x", x_.data(), m_, columns(), kept.a->tile(),
                                    kept.a->distribution());
    run_->begin("solve", 0, kept.problem.solve_flops(static_cast<double>(columns())));
    kept.factors->rotate(run_->flow(), x.tiles());
    run_->wait();
    x.gather();
  }
  rank.solve(x_.data(), m_, columns());
  result_.seconds += run_->end();
  scales.undo(x_.data());
}

/// With the factor in T.
template <class T>
void SolveSteps<T>::direct(const DenseOperation& method) {
  const auto matrix = matrix_of<T>(method, a_);
  finish(factored(method, *matrix), &*matrix);
}

template <class T>
KeptFactors<T> SolveSteps<T>::factored(const DenseOperation& method, MatrixToSolve<T>& matrix) {
  result_.problem = problem(method, element_type_of<T>);
  KeptFactors<T> kept{.problem = result_.problem, .a = nullptr, .factors = nullptr};
  kept.a = std::make_unique<const TiledMatrix<T>>(
      matrix.tiles(place_.for_operation(method), run_->runtime(), result_.problem.tile));
  kept.factors =
      make_factors<T>(result_.problem, {.factor = kernels_, .solve = kernels_}, run_->runtime(), *kept.a);
  factor<T>(matrix, *kept.a, *kept.factors);
  result_.input_bytes_read = matrix.bytes_read();
  return kept;
}

/// `matrix`: null if the solution cannot be checked.
template <class T>
void SolveSteps<T>::finish(KeptFactors<T> kept, MatrixToSolve<T>* matrix) {
  const DenseOperation& method = *kept.problem.operation;
  const TiledMatrix<T>& a = *kept.a;
  if (matrix == nullptr) {
    solve_with(kept);
    run_->reached(Milestone::solved);
    result_.is_checked = false;
    require_finite_solution();
    return;
  }
  if (is_wide()) return finish_minimum_norm(std::move(kept), *matrix);
  if (is_least_squares(method)) return finish_least_squares(std::move(kept), *matrix);
  solve_with(kept);
  run_->reached(Milestone::solved);
  if (method.solve->grows && system_.factors == nullptr)
    measure_growth(a, *kept.factors, method.solve->symmetric ? largest_in_symmetric_ : matrix->largest());
  if (!remains_unchecked()) judge(*matrix, a, *kept.factors);
  if (options_.keep_factors) factors_ = std::move(kept);
}

template <class T>
RankDecision<T> SolveSteps<T>::rank_decision(const KeptFactors<T>& kept, InverseNormEstimate& of_inverse) {
  const TiledMatrix<T>& a = *kept.a;
  const double tolerance =
      options_.rank_tolerance.value_or(epsilon_of_scalar<T> * static_cast<double>(std::max(m_, n_)));
  RankDecision<T> rank(
      *run_, kernels_, a, tolerance,
      [&] {
        of_inverse = estimate_norm_of_inverse(*run_, *kept.factors, a);
        return of_inverse.norm;
      },
      is_wide());
  result_.seconds += rank.seconds();
  return rank;
}

template <class T>
void SolveSteps<T>::finish_least_squares(KeptFactors<T> kept, MatrixToSolve<T>& matrix) {
  const TiledMatrix<T>& a = *kept.a;
  InverseNormEstimate of_inverse;
  RankDecision<T> rank = rank_decision(kept, of_inverse);
  if (rank.is_reduced() && options_.keep_factors)
    throw NumericalError(
        fmt::format("the columns of the matrix are linearly dependent: {} of {} are independent. Kept "
                    "factors need independent ones",
                    rank.rank().rank, n_));
  rank.is_reduced() ? solve_with_reduced_rank(kept, rank) : solve_with(kept);
  run_->reached(Milestone::solved);
  judge_as_least_squares(matrix, a, *kept.factors, rank, of_inverse);
  if (options_.keep_factors) factors_ = std::move(kept);
}

/// With a factor in single precision. If the matrix does not allow that, warns, and the solution is b again. Only
/// the factorization is in TF32, if at all. `x`: that of x_, in double precision.
template <class T>
typename SolveSteps<T>::Attempt SolveSteps<T>::refined(FactorPrecision precision_of_factor, WideOf<T>* x) {
  using Single = SingleOf<T>;
  const DenseOperation& method = *options_.method;
  const bool in_tf32 = precision_of_factor == FactorPrecision::tf32;
  const linalg::Kernels factor_kernels = in_tf32 ? kernels_.in_tf32() : kernels_;
  const auto give_up = [&](const NumericalError& error) {
    // If nothing was rounded to TF32, single precision fails in the same way. Ranks may differ in devices.
    const bool was_single = in_tf32 && place_.alone() && factor_kernels.calls_in_tf32() == 0;
    run_->warn(fmt::format("{}; trying again in {} precision", error.what(),
                           in_tf32 && !was_single ? "single" : "double"));
    const double spent = result_.seconds + run_->give_up();
    result_ = {};
    result_.seconds = result_.given_up_seconds = spent;
    read_right_hand_sides();
    return was_single ? Attempt::failed_in_single : Attempt::failed;
  };
  result_.problem = problem(method, element_type_of<Single>);
  result_.problem.title = in_tf32 ? "Cholesky solve, factor in single precision, products in TF32"
                                  : "Cholesky solve, factor in single precision";
  try {
    const auto matrix = matrix_of<Single>(method, a_);
    const TiledMatrix<Single> l = matrix->tiles(place_, run_->runtime(), result_.problem.tile);
    const auto factors = make_factors<Single>(result_.problem, {.factor = factor_kernels, .solve = kernels_},
                                              run_->runtime(), l);
    factor<Single>(*matrix, l, *factors);
    const SingleFactorSolution<Single> found =
        solve_by_single_factor<Single>(*run_, kernels_, l, *factors,
                                       {.a = [&] { return matrix->source(); },
                                        .b = [this] { return right_hand_sides(); },
                                        .x = x,
                                        .columns = columns(),
                                        .wants_condition = options_.condition,
                                        .factor_name = in_tf32 ? "TF32" : "single precision",
                                        .readers = place_.readers});
    result_.seconds += found.seconds;
    matrix->forget_pages();
    run_->reached(Milestone::solved);
    result_.backward_error = found.backward_error;
    result_.refinement_steps = found.steps;
    if (matrix->asymmetry() != 0) result_.asymmetry = matrix->asymmetry();
    if (found.inverse && std::isfinite(found.matrix_norm)) {
      const InverseEstimate estimate = estimate_inverse(*run_, *found.inverse,
                                                        {.kernels = kernels_,
                                                         .a = matrix->source(),
                                                         .matrix_norm = found.matrix_norm,
                                                         .factor_error = found.first_backward_error,
                                                         .epsilon = epsilon_of_scalar<float>,
                                                         .readers = place_.readers},
                                                        linalg::InverseNorm<Single>::sweeps_per_step);
      result_.condition = report_estimate(*run_, estimate, largest_quotient(found.uncertain, found.weights),
                                          columns(), precision(method));
    }
    result_.input_bytes_read = matrix->bytes_read();
    if (in_tf32) result_.calls_in_tf32 = factor_kernels.calls_in_tf32();
    return Attempt::succeeded;
  } catch (const NoPrecisionHelps&) {
    throw;
  } catch (const FactorTooCoarse& error) {  // all ranks find the same
    result_.seconds += error.seconds();
    return give_up(error);
  } catch (const NumericalError& error) {
    if (!place_.alone()) throw;
    return give_up(error);
  }
}

template class SolveSteps<float>;
template class SolveSteps<double>;
template class SolveSteps<std::complex<float>>;
template class SolveSteps<std::complex<double>>;

}  // namespace fairlead::solver
