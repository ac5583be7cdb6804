// The public solver: options, the choice of the method, and errors for solutions that cannot be trusted.
#include <fairlead/solver.hpp>

#include <fmt/format.h>

#include <complex>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "base/scalar.hpp"
#include "data/matrix/formats.hpp"
#include "machine/machine.hpp"
#include "solver/choose_method.hpp"
#include "solver/kept_factorization.hpp"
#include "solver/linear_system.hpp"
#include "solver/load_kernels.hpp"
#include "solver/method_options.hpp"
#include "solver/solve_report.hpp"
#include "solver/solve_steps.hpp"
#include "solver/trust.hpp"

namespace fairlead::linalg {

namespace {

using data::StoredMatrix;
using solver::DenseOperation;
using solver::LinearSystem;
using solver::MethodOption;
using solver::Wording;

struct NamedMethod {
  Method method;
  const DenseOperation* operation;  ///< null: chosen by the matrix
};
constexpr NamedMethod methods[] = {{Method::automatic, nullptr},
                                   {Method::cholesky, &solver::cholesky_operation},
                                   {Method::ldlt, &solver::ldlt_operation},
                                   {Method::lu, &solver::pivoted_lu_operation},
                                   {Method::lu_incremental, &solver::incremental_lu_operation},
                                   {Method::lu_nopivot, &solver::unpivoted_lu_operation},
                                   {Method::qr, &solver::qr_operation}};

const DenseOperation* operation_of(Method method) noexcept {
  for (const NamedMethod& one : methods)
    if (one.method == method) return one.operation;
  return nullptr;
}

/// Those of the table that are given.
std::vector<MethodOption> method_options(const SolverOptions& options) {
  std::vector<MethodOption> given;
  if (options.refine) given.push_back(MethodOption::refine);
  if (options.stored == Stored::lower) given.push_back(MethodOption::lower);
  if (options.stored == Stored::upper) given.push_back(MethodOption::upper);
  if (options.stored == Stored::mean) given.push_back(MethodOption::mean);
  if (options.rank_tolerance) given.push_back(MethodOption::rank_tolerance);
  return given;
}

void require_valid(const SolverOptions& options) {
  const std::vector<MethodOption> given = method_options(options);
  const auto problem = solver::problem_of({.method = operation_of(options.method),
                                           .options = given,
                                           .rank_tolerance = options.rank_tolerance,
                                           .required_digits = options.required_digits,
                                           .condition = options.condition},
                                          Wording::library);
  if (problem) throw UsageError(*problem);
  if (options.tile < 0) throw UsageError(fmt::format("tile is {}: it is a number of elements", options.tile));
}

/// A pointer to an object that the caller keeps.
template <class T>
std::shared_ptr<const T> not_owned(const T& object) {
  return std::shared_ptr<const T>(std::shared_ptr<void>(), &object);
}

std::shared_ptr<const StoredMatrix> stored(const MatrixSource<double>& source) {
  return stored_matrix_of(not_owned(source));
}
std::shared_ptr<const StoredMatrix> stored(const MatrixSource<float>& source) {
  return stored_matrix_of(widened(not_owned(source)));
}
std::shared_ptr<const StoredMatrix> stored(const MatrixSource<std::complex<double>>& source) {
  return stored_matrix_of(not_owned(source));
}
std::shared_ptr<const StoredMatrix> stored(const MatrixSource<std::complex<float>>& source) {
  return stored_matrix_of(widened(not_owned(source)));
}
template <class T>
std::shared_ptr<const StoredMatrix> stored(const MatrixView<T>& view) {
  return stored_matrix_of(
      matrix_in_memory(view.elements, view.rows, view.columns, view.order, view.leading_dimension));
}

template <class T>
std::shared_ptr<const StoredMatrix> stored_columns(std::span<const T> b, std::int64_t rows,
                                                   std::int64_t columns) {
  if (columns < 1) throw UsageError(fmt::format("{} right-hand sides: give at least one", columns));
  if (std::ssize(b) != rows * columns)
    throw UsageError(
        fmt::format("b has {} elements: the matrix has {} rows, so with {} right-hand sides it needs {}",
                    b.size(), rows, columns, rows * columns));
  return stored_matrix_of(
      matrix_in_memory(b.data(), rows, columns, StorageOrder::fortran, 0, "the right-hand side"));
}

}  // namespace
}  // namespace fairlead::linalg

namespace fairlead::solver {

linalg::Method method_of(const DenseOperation& operation) noexcept {
  for (const linalg::NamedMethod& one : linalg::methods)
    if (one.operation == &operation) return one.method;
  return linalg::Method::automatic;
}

Config config_of(const linalg::SolverOptions& options) {
  Config config = options.config;
  if (options.memory != 0) config.set("memory", options.memory);
  if (!config.has("memory")) config.set("memory", machine::discover().memory.usable_bytes());
  if (options.tile != 0) config.set("tile", options.tile);
  if (options.workers != 0) config.set("workers", options.workers);
  return config;
}

}  // namespace fairlead::solver

namespace fairlead::linalg {

std::string_view name_of(Method method) noexcept {
  const DenseOperation* const operation = operation_of(method);
  return operation == nullptr ? "automatic" : operation->key;
}

class Solver::Implementation {
 public:
  explicit Implementation(SolverOptions options) : options_(std::move(options)) { require_valid(options_); }

  template <class T>
  std::vector<T> solve(std::shared_ptr<const StoredMatrix> a, std::span<const T> b, std::int64_t columns) {
    report_ = {};
    const auto rows = static_cast<std::int64_t>(a->rows());
    const LinearSystem system{
        .a = std::move(a), .b = stored_columns(b, rows, columns), .stored = options_.stored};
    return with_errors_of_library(system, [&] {
      // Refinement needs double precision.
      const bool in_single = is_single(system.solution()) && !options_.refine;
      require_real_values<T>(system);
      using Single = std::conditional_t<is_complex_number<T>, std::complex<float>, float>;
      return in_single ? solve_in<Single, T>(system) : solve_in<WideOf<T>, T>(system);
    });
  }
  Factorization factor(std::shared_ptr<const StoredMatrix> a) {
    report_ = {};
    if (options_.refine || options_.rank_tolerance)
      throw UsageError("refine and rank_tolerance apply to a solve, not to factors that are kept");
    const auto rows = static_cast<std::int64_t>(a->rows());
    return with_scalar(a->element(), [&]<class T>() {
      // The right-hand side with which the factors are checked.
      const std::vector<T> ones(a->rows(), T(1));
      const LinearSystem system{
          .a = a, .b = stored_columns(std::span<const T>(ones), rows, 1), .stored = options_.stored};
      return with_errors_of_library(system, [&] { return factor_in<T>(system); });
    });
  }
  const SolveReport& report() const noexcept { return report_; }

 private:
  /// The solution of a complex matrix is not real.
  template <class T>
  static void require_real_values(const LinearSystem& system) {
    if (!is_complex_number<T> && system.has_complex_numbers())
      throw InputError(system.a->name() + ": holds complex numbers: pass complex right-hand sides");
  }

  template <class Attempt>
  static std::invoke_result_t<const Attempt&> with_errors_of_library(const LinearSystem& system,
                                                                     const Attempt& attempt) {
    try {
      return attempt();
    } catch (const NumericalError& error) {
      // If the file changed during the run, its values may mix two matrices: report the change instead.
      const std::string changed = system.changed_input(), words = solver::in_words_of_library(error.what());
      if (changed.empty()) throw NumericalError(words);
      throw InputError(fmt::format("{} has changed while it was read: {}", changed, words));
    } catch (const InputError& error) {
      throw InputError(solver::in_words_of_library(error.what()));
    }
  }

  template <class T>
  Factorization factor_in(const LinearSystem& system) {
    solver::SolveOptions options{
        .condition = options_.condition, .required_digits = options_.required_digits, .keep_factors = true};
    choose(options, system);
    const Config config = solver::config_of(options_);
    if (!kernels_) kernels_.emplace(solver::load_kernels_unchanged(config));
    solver::SolveSteps<T> steps(system, options, config, *kernels_, {});
    auto run = std::make_unique<solver::Execution>(config, steps.reserved(), *kernels_);
    solver::SolveResult result = steps.run(*run);
    solver::KeptFactors<T> factors = steps.take_factors();  // destroyed before the run
    fill_report(system, result, *run);
    if (result.condition) result.condition->singular = false;  // the report has a warning
    if (const auto wrong = solver::wrong_answer(system, options, result)) throw NumericalError(*wrong);
    const std::string changed = system.changed_input();
    if (!changed.empty()) throw InputError(fmt::format("{} has changed while it was read", changed));
    return solver::make_factorization<T>(std::move(run), std::move(factors),
                                         solver::factored_matrix(*system.a, result));
  }

  /// Computes in `Computed`; returns the solution as T.
  template <class Computed, class T>
  std::vector<T> solve_in(const LinearSystem& system) {
    solver::SolveOptions options{
        .factor = options_.refine ? solver::FactorPrecision::single : solver::FactorPrecision::of_solution,
        .condition = options_.condition,
        .rank_tolerance = options_.rank_tolerance,
        .required_digits = options_.required_digits};
    choose(options, system);
    const Config config = solver::config_of(options_);
    if (!kernels_) kernels_.emplace(solver::load_kernels_unchanged(config));
    solver::SolveSteps<Computed> steps(system, options, config, *kernels_, {});
    solver::Execution run(config, steps.reserved(), *kernels_);
    const solver::SolveResult result = steps.run(run);
    fill_report(system, result, run);
    if (const auto wrong = solver::wrong_answer(system, options, result)) throw NumericalError(*wrong);
    return leading_rows<T>(steps.solution(), system);
  }

  template <class T, class Computed>
  static std::vector<T> leading_rows(const std::vector<Computed>& x, const LinearSystem& system) {
    std::vector<T> solution;
    solution.reserve(static_cast<std::size_t>(system.unknowns() * system.right_hand_sides()));
    for (std::int64_t c = 0; c < system.right_hand_sides(); ++c)
      for (std::int64_t i = 0; i < system.unknowns(); ++i)
        solution.push_back(scalar_cast<T>(x[static_cast<std::size_t>(i + c * system.rows())]));
    return solution;
  }

  /// Sets the method of `options`. Throws UsageError, or InputError, if the system does not fit them.
  void choose(solver::SolveOptions& options, const LinearSystem& system) const {
    if (system.has_complex_numbers()) {
      const std::vector<MethodOption> given = method_options(options_);
      if (const auto problem = solver::complex_problem_of(given, Wording::library))
        throw UsageError(*problem);
    }
    solver::choose_method(options, system, operation_of(options_.method), solver::TasksRun::in_flow,
                          Wording::library);
    solver::require_match(system, *options.method);
    if (const auto problem =
            solver::digits_problem_of(system.solution(), options_.required_digits, Wording::library))
      throw UsageError(*problem);
  }

  void fill_report(const LinearSystem& system, const solver::SolveResult& result, solver::Execution& run) {
    report_.method = solver::method_of(*result.problem.operation);
    report_.method_reason = result.method_reason;
    report_.rows = system.rows();
    report_.columns = system.unknowns();
    report_.right_hand_sides = system.right_hand_sides();
    report_.precision = system.solution();
    report_.backward_error = result.backward_error;
    report_.backward_error_limit = result.backward_error_limit;
    report_.refinement_steps = result.refinement_steps.value_or(0);
    if (result.condition) {
      report_.condition = result.condition->number;
      report_.forward_error = result.condition->forward_error;
      report_.digits = result.condition->digits;
    }
    report_.growth = result.growth;
    report_.asymmetry = result.asymmetry;
    if (result.residual) report_.residual = result.residual->relative;
    if (result.numerical_rank) report_.rank = result.numerical_rank->rank;
    report_.tile = result.problem.tile;
    report_.seconds = result.seconds;
    for (const auto& phase : run.phases())
      report_.phases.push_back({.name = phase.name, .seconds = phase.seconds, .counts = phase.counts});
    const Runtime::Traffic traffic = run.runtime().disk_traffic();
    report_.bytes_read = traffic.read;
    report_.bytes_written = traffic.written;
    for (const std::string& warning : run.warnings())
      report_.warnings.push_back(solver::in_words_of_library(warning));
  }

  SolverOptions options_;
  std::optional<Kernels> kernels_;  // loaded by the first solve
  SolveReport report_;
};

Solver::Solver(SolverOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(options))) {}
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;
Solver::~Solver() = default;

std::vector<double> Solver::solve(const MatrixSource<double>& a, std::span<const double> b,
                                  std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<float> Solver::solve(const MatrixSource<float>& a, std::span<const float> b,
                                 std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<double> Solver::solve(const MatrixView<double>& a, std::span<const double> b,
                                  std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<float> Solver::solve(const MatrixView<float>& a, std::span<const float> b,
                                 std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<double> Solver::solve(const std::string& a, std::span<const double> b,
                                  std::int64_t right_hand_sides) {
  return solve(*open_matrix(a), b, right_hand_sides);
}
std::vector<Solver::Complex> Solver::solve(const MatrixSource<Complex>& a, std::span<const Complex> b,
                                           std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<Solver::ComplexFloat> Solver::solve(const MatrixSource<ComplexFloat>& a,
                                                std::span<const ComplexFloat> b,
                                                std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<Solver::Complex> Solver::solve(const MatrixView<Complex>& a, std::span<const Complex> b,
                                           std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<Solver::ComplexFloat> Solver::solve(const MatrixView<ComplexFloat>& a,
                                                std::span<const ComplexFloat> b,
                                                std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<Solver::Complex> Solver::solve(const std::string& a, std::span<const Complex> b,
                                           std::int64_t right_hand_sides) {
  return implementation_->solve(data::open_matrix_file(a), b, right_hand_sides);
}

Factorization Solver::factor(const MatrixSource<double>& a) { return implementation_->factor(stored(a)); }
Factorization Solver::factor(const MatrixSource<float>& a) { return implementation_->factor(stored(a)); }
Factorization Solver::factor(const MatrixView<double>& a) { return implementation_->factor(stored(a)); }
Factorization Solver::factor(const MatrixView<float>& a) { return implementation_->factor(stored(a)); }
Factorization Solver::factor(const MatrixSource<Complex>& a) { return implementation_->factor(stored(a)); }
Factorization Solver::factor(const MatrixSource<ComplexFloat>& a) {
  return implementation_->factor(stored(a));
}
Factorization Solver::factor(const MatrixView<Complex>& a) { return implementation_->factor(stored(a)); }
Factorization Solver::factor(const MatrixView<ComplexFloat>& a) { return implementation_->factor(stored(a)); }
Factorization Solver::factor(const std::string& a) {
  return implementation_->factor(data::open_matrix_file(a));
}

const SolveReport& Solver::report() const noexcept { return implementation_->report(); }

}  // namespace fairlead::linalg
