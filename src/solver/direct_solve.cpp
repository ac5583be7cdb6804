// See direct_solve.hpp.
#include "solver/direct_solve.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/general_reader.hpp"
#include "algorithms/linalg/inverse_probes.hpp"
#include "algorithms/linalg/scaled_residual.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "algorithms/linalg/symmetric_reader.hpp"
#include "data/matrix/memory_matrix.hpp"
#include "solver/choose_method.hpp"
#include "solver/positive_diagonal.hpp"
#include "solver/refined_steps.hpp"
#include "solver/solve_steps.hpp"
#include "solver/trust.hpp"

namespace fairlead::solver {

namespace {

/// Larger systems are solved faster by tasks.
constexpr std::int64_t most_rows = 2000, most_sides = 64;

/// Column-major vectors, as InverseProbes sees a tile.
template <class T>
struct VectorsInMemory {
  T* elements;
  std::int64_t length, count;

  int rows() const noexcept { return static_cast<int>(length); }
  int columns() const noexcept { return static_cast<int>(count); }
  T& operator()(int i, int j) const noexcept { return elements[i + j * length]; }
};

/// Settings under which a run leaves or uses files, or whose tasks matter.
bool needs_tasks(const Config& config) {
  if (config.has("tile")) return true;
  for (const std::string_view key : {"report", "trace", "event-log", "record-flow", "scheduler", "devices"})
    if (config.has(key) && config.text_or(key, "none") != "none") return true;
  return false;
}

}  // namespace

bool suits_direct_solve(const LinearSystem& system, const SolveOptions& options, const Config& config) {
  const bool is_plain = options.method == &cholesky_operation || options.method == &ldlt_operation ||
                        options.method == &pivoted_lu_operation;
  if (!is_plain || system.factors != nullptr || system.of_points() ||
      options.factor != FactorPrecision::of_solution || options.keep_factors || options.rank_tolerance ||
      system.stored != linalg::Stored::both)
    return false;
  const std::int64_t n = system.unknowns(), sides = system.right_hand_sides();
  if (system.rows() != n || n < 1 || n > most_rows || sides > most_sides) return false;
  if (dynamic_cast<const data::MemoryMatrix*>(system.a.get()) == nullptr) return false;
  // The factors, vectors of the condition estimate, and the scratch memory of reading and checks.
  constexpr Bytes scratch = Bytes{8} << 20;
  const Bytes element = bytes_of(system.solution());
  const Bytes needed =
      (static_cast<Bytes>(n) + 3 * static_cast<Bytes>(sides) + 64) * static_cast<Bytes>(n) * element;
  return needed + scratch <= config.bytes_or("memory", ~Bytes{0}) && !needs_tasks(config);
}

/// Adds a phase with the time from its construction to its destruction.
template <class T>
class DirectSolve<T>::Timer {
 public:
  Timer(DirectSolve& solve, const char* name, bool counts = true) noexcept
      : solve_(solve), name_(name), counts_(counts) {}
  ~Timer() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    solve_.phases_.push_back({name_, seconds, counts_});
    if (counts_) solve_.result_.seconds += seconds;
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  DirectSolve& solve_;
  const char* const name_;
  const bool counts_;
  const Clock::time_point start_ = Clock::now();
};

template <class T>
std::optional<SolveResult> DirectSolve<T>::run() {
  method_ = options_.method;
  reason_ = options_.method_reason;
  const linalg::LibraryThreads::Several threads(kernels_.blas().threads(), static_cast<int>(threads_));
  if (!read() || !factor()) return std::nullopt;
  {
    const Timer time(*this, "solve");
    apply_inverse(x_.data(), system_.right_hand_sides(), linalg::Transpose::no);
  }
  if (method_->solve->grows) measure_growth();
  if (!judge()) return std::nullopt;
  result_.problem = {.operation = method_,
                     .title = {},
                     .n = n_,
                     .tile = static_cast<std::int32_t>(n_),
                     .element = element_type_of<T>};
  result_.method_reason = reason_;
  result_.backward_error_limit = linalg::max_correct_backward_error<T>(n_);
  return std::move(result_);
}

template <class T>
bool DirectSolve<T>::read() {
  const Timer time(*this, "reading");
  x_.resize(elements(system_.right_hand_sides()));
  const auto n = static_cast<std::uint64_t>(n_);
  system_.b->template read_block<T>(0, n, 0, static_cast<std::uint64_t>(system_.right_hand_sides()),
                                    x_.data(), n);
  if (!std::ranges::all_of(x_, is_finite_number<T>)) return false;
  a_ = std::make_unique_for_overwrite<T[]>(elements(n_));
  return is_symmetric() ? read_as_symmetric() : read_as_general();
}

/// One tile of the whole matrix, whose halves the reader compares.
template <class T>
bool DirectSolve<T>::read_as_symmetric() {
  T* const tile[] = {a_.get()};
  linalg::SymmetricReader<T> reader(system_.a);
  std::string why;
  try {
    reader.read_lower({0, n_, 0, n_, n_, n_}, tile);
    reader.require_symmetric();
  } catch (const NumericalError& error) {
    why = error.what();
  }
  if (!why.empty()) {
    // A complex matrix that equals its transpose suits LDL^T, but not that of Hermitian matrices.
    const double tolerance = linalg::SymmetricReader<T>::tolerance(system_.a->element());
    if (is_complex_number<T> && reader.difference_from_transpose() <= tolerance) return false;
    if (options_.may_be_triangular && reader.nonzero_triangle() != linalg::Stored::both) return false;
    // An element that is not finite is found again.
    if (options_.fallback != &pivoted_lu_operation) return false;
    fall_back(*options_.fallback, without_advice(why));
    return read_as_general();
  }
  if (reader.asymmetry() != 0) return false;
  for (std::int64_t i = 0; i < n_ && !is_indefinite(); ++i)
    if (const T element = a_[static_cast<std::size_t>(i + i * n_)]; !(real_part(element) > 0)) {
      if (options_.symmetric_fallback != &ldlt_operation) return false;
      fall_back(ldlt_operation, not_positive_text(i, element));
    }
  if (is_indefinite())
    for (std::int64_t j = 0; j < n_; ++j)
      largest_ = std::max(largest_, linalg::largest_magnitude(a_.get() + j + j * n_, n_ - j));
  return true;
}

template <class T>
void DirectSolve<T>::fall_back(const DenseOperation& method, const std::string& why) {
  const SolveOptions next = with_fallback(options_, method, why);
  method_ = next.method;
  reason_ = next.method_reason;
}

template <class T>
bool DirectSolve<T>::read_as_general() {
  T* const tile[] = {a_.get()};
  linalg::GeneralReader<T> reader(system_.a);
  try {
    reader.read({0, n_, 0, n_, n_, n_}, tile);
  } catch (const NumericalError&) {
    return false;
  }
  largest_ = reader.largest();
  return true;
}

template <class T>
bool DirectSolve<T>::factor() {
  const Timer time(*this, "factorization");
  const linalg::Blas& blas = kernels_.blas();
  const int n = static_cast<int>(n_);
  if (is_symmetric() && !is_indefinite()) return blas.potrf(linalg::Triangle::lower, n, a_.get(), n) == 0;
  pivots_.resize(static_cast<std::size_t>(n_));
  if (is_indefinite())
    return blas.sysv<T>(linalg::Triangle::lower, true, n, 0, a_.get(), n, pivots_.data(), nullptr, n) == 0;
  return blas.getrf(n, n, a_.get(), n, pivots_.data()) == 0;
}

/// b := A^-1 b, or A^-H b with linalg::adjoint<T>.
template <class T>
void DirectSolve<T>::apply_inverse(T* b, std::int64_t columns, linalg::Transpose op) const {
  using enum linalg::Triangle;
  using linalg::Diagonal;
  const linalg::Blas& blas = kernels_.blas();
  const int n = static_cast<int>(n_), sides = static_cast<int>(columns);
  const bool plain = op == linalg::Transpose::no;
  const auto solve = [&](linalg::Triangle triangle, linalg::Transpose of, Diagonal diagonal) {
    blas.trsm(linalg::Side::left, triangle, of, diagonal, n, sides, T(1), a_.get(), n, b, n);
  };
  if (is_indefinite()) {
    static_cast<void>(blas.sysv(lower, false, n, sides, a_.get(), n, pivots_.data(), b, n));
  } else if (is_symmetric()) {
    solve(lower, linalg::Transpose::no, Diagonal::general);
    solve(lower, linalg::adjoint<T>, Diagonal::general);
  } else if (plain) {
    blas.laswp(sides, b, n, n, pivots_.data());
    solve(lower, linalg::Transpose::no, Diagonal::unit);
    solve(upper, linalg::Transpose::no, Diagonal::general);
  } else {
    solve(upper, linalg::adjoint<T>, Diagonal::general);
    solve(lower, linalg::adjoint<T>, Diagonal::unit);
    blas.laswp(sides, b, n, n, pivots_.data(), true);
  }
}

template <class T>
void DirectSolve<T>::measure_growth() {
  const Timer time(*this, "growth", false);
  double grown = 0;
  // Of U, or of D, whose blocks have one or two rows.
  for (std::int64_t j = 0, block = 1; j < n_; j += block) {
    const T* const column = a_.get() + j * n_;
    block = is_indefinite() && pivots_[static_cast<std::size_t>(j)] < 0 ? 2 : 1;
    grown = std::max(grown, is_indefinite() ? linalg::largest_magnitude(column + j, block)
                                            : linalg::largest_magnitude(column, j + 1));
    if (block == 2) grown = std::max(grown, magnitude(column[j + 1 + n_]));
  }
  if (largest_ > 0) result_.growth = grown / largest_;
  result_.largest = largest_;
}

template <class T>
bool DirectSolve<T>::judge() {
  using Source = linalg::StoredSource<WideOf<T>>;
  const std::int64_t sides = system_.right_hand_sides();
  const auto a = std::make_shared<Source>(system_.a, linalg::source_staging_bytes,
                                          is_symmetric() ? linalg::Shape::symmetric : linalg::Shape::general);
  linalg::BackwardError<T> error(kernels_, a, std::make_shared<Source>(system_.b, staging_of_vectors),
                                 x_.data(), sides);
  {
    const Timer time(*this, "error check", false);
    error.compute();
  }
  result_.backward_error = result_.first_backward_error = error.value();
  result_.matrix_norm = error.matrix_norm();
  // SolveSteps refines a larger error.
  if (!(error.value() <= sufficient_backward_error<T>(n_))) return false;
  return !options_.condition || estimate_condition(error.matrix_norm(), error.directed_residual_bound());
}

template <class T>
bool DirectSolve<T>::estimate_condition(double matrix_norm, std::vector<double> uncertain_residual) {
  using Probes = linalg::InverseProbes<T>;
  InverseEstimate estimate{.sweeps = Probes::steps * linalg::InverseNorm<T>::sweeps_per_step};
  std::vector<double> weights = weights_of(std::move(uncertain_residual));
  if (weights.empty() || !std::isfinite(matrix_norm)) return false;
  {
    const Timer time(*this, "condition estimate", false);
    Probes probes(n_, std::move(weights), {n_, 1, 1});
    std::vector<T> memory(elements(probes.count()));
    const VectorsInMemory<T> vectors{memory.data(), n_, probes.count()};
    for (int step = 0; step < Probes::steps; ++step) {
      probes.begin();
      probes.fill(vectors, {0, 0, 0});
      apply_inverse(memory.data(), probes.count(), step == 0 ? linalg::Transpose::no : linalg::adjoint<T>);
      probes.evaluate(vectors, {0, 0, 0});
    }
    estimate.condition = matrix_norm * probes.value();
    estimate.weighted = probes.weighted_value();
  }
  estimate.seconds = phases_.back().seconds;
  if (needs_check(estimate, result_.first_backward_error, epsilon_of_scalar<T>)) return false;
  const SolvePrecision precision = precision_of<T>(*method_, system_.solution());
  result_.condition = report_of(estimate, 1, system_.right_hand_sides(), precision);
  if (std::string warning = condition_warning(*result_.condition, precision); !warning.empty())
    warnings_.push_back(std::move(warning));
  return true;
}

template class DirectSolve<float>;
template class DirectSolve<double>;
template class DirectSolve<std::complex<float>>;
template class DirectSolve<std::complex<double>>;

}  // namespace fairlead::solver
