// The public solver: options, the choice of the method, and errors for solutions that cannot be trusted.
#include <fairlead/solver.hpp>

#include <fmt/format.h>

#include <complex>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/linalg/singular_error.hpp"
#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "base/scalar.hpp"
#include "config/memory_limit_error.hpp"
#include "data/matrix/formats.hpp"
#include "machine/machine.hpp"
#include "solver/cancelled_by.hpp"
#include "solver/choose_method.hpp"
#include "solver/direct_solve.hpp"
#include "solver/kept_factorization.hpp"
#include "solver/library_report.hpp"
#include "solver/linear_system.hpp"
#include "solver/load_kernels.hpp"
#include "solver/matrix_sample.hpp"
#include "solver/method_options.hpp"
#include "solver/plan.hpp"
#include "solver/rank_attempts.hpp"
#include "solver/real_parts.hpp"
#include "solver/solve_report.hpp"
#include "solver/solve_steps.hpp"
#include "solver/solver_options.hpp"
#include "solver/solver_ranks.hpp"
#include "solver/trust.hpp"

namespace fairlead::linalg {

namespace {

using data::StoredMatrix;
using solver::LinearSystem;
using solver::MethodOption;
using solver::Wording;

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
void require_columns(std::span<const T> b, std::int64_t rows, std::int64_t columns) {
  if (columns < 1) throw UsageError(fmt::format("{} right-hand sides: give at least one", columns));
  if (std::ssize(b) != rows * columns)
    throw UsageError(
        fmt::format("b has {} elements: the matrix has {} rows, so with {} right-hand sides it needs {}",
                    b.size(), rows, columns, rows * columns));
}

template <class T>
std::shared_ptr<const StoredMatrix> stored_columns(std::span<const T> b, std::int64_t rows,
                                                   std::int64_t columns) {
  require_columns(b, rows, columns);
  return stored_matrix_of(
      matrix_in_memory(b.data(), rows, columns, StorageOrder::fortran, 0, "the right-hand side"));
}

}  // namespace

class Solver::Implementation {
 public:
  explicit Implementation(SolverOptions options) : options_(std::move(options)) {
    solver::require_valid(options_);
  }

  template <class T>
  std::vector<T> solve(std::shared_ptr<const StoredMatrix> a, std::span<const T> b, std::int64_t columns) {
    return on_ranks([&] { return solve_system(std::move(a), b, columns); });
  }
  template <class T>
  std::vector<T> solve_system(std::shared_ptr<const StoredMatrix> a, std::span<const T> b,
                              std::int64_t columns) {
    report_ = {};
    const auto rows = static_cast<std::int64_t>(a->rows());
    if constexpr (is_complex_number<T>)
      if (!is_complex(a->element())) {
        require_columns(b, rows, columns);
        return solve_parts(std::move(a), b, columns);
      }
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
    if (join_ranks())
      throw UsageError("factors are kept by one process: over several ranks, solve() solves a system");
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
  SolvePlan plan(std::shared_ptr<const StoredMatrix> a, std::int64_t columns) {
    if (columns < 1) throw UsageError(fmt::format("{} right-hand sides: give at least one", columns));
    const auto rows = static_cast<std::int64_t>(a->rows());
    const ElementType element = a->element();
    const LinearSystem system{.a = std::move(a),
                              .b = solver::shape_only("the right-hand side", element, rows, columns),
                              .stored = options_.stored};
    solver::SolveOptions options = solve_options();
    choose(options, system);
    const Config config = solver::config_of(options_);
    return solver::plan_solve(system, options, config, kernels(config));
  }
  void stop_by(std::stop_token stop) { stop_ = std::move(stop); }
  const SolveReport& report() const noexcept { return report_; }

 private:
  /// Whether there are several ranks.
  bool join_ranks() {
    if (options_.rank && !ranks_) ranks_.emplace(options_.rank, options_.config);
    return ranks_ && !ranks_->alone();
  }
  /// Calls solve(), over ranks if there are several. Before the ranks have compared their systems, an error of one is
  /// reported to the others.
  template <class Solve>
  std::invoke_result_t<const Solve&> on_ranks(const Solve& solve) {
    over_ranks_ = join_ranks();
    compared_ = false;
    try {
      return solve();
    } catch (const std::exception& error) {
      if (over_ranks_ && !compared_) ranks_->give_up(error);
      throw;
    }
  }

  /// Of a real matrix.
  template <class Part>
  std::vector<std::complex<Part>> solve_parts(std::shared_ptr<const StoredMatrix> a,
                                              std::span<const std::complex<Part>> b, std::int64_t columns) {
    struct ReportOfComplex {
      ~ReportOfComplex() {
        report.right_hand_sides /= 2;
        report.precision = element_type(is_single(report.precision), true);
      }
      SolveReport& report;
    } const reported{report_};
    return solver::solved_by_parts(
        b, [&](std::span<const Part> parts) { return solve_system(std::move(a), parts, 2 * columns); });
  }

  /// The solution of a complex matrix is not real.
  template <class T>
  static void require_real_values(const LinearSystem& system) {
    if (!is_complex_number<T> && system.has_complex_numbers())
      throw InputError(system.a->name() + ": holds complex numbers: pass complex right-hand sides");
  }

  template <class Attempt>
  std::invoke_result_t<const Attempt&> with_errors_of_library(const LinearSystem& system,
                                                              const Attempt& attempt) {
    try {
      return solver::cancelled_by(stop_, attempt);
    } catch (const NumericalError& error) {
      // If the file changed during the run, its values may mix two matrices: report the change instead.
      const std::string changed = system.changed_input(), words = solver::in_words_of_library(error.what());
      if (!changed.empty())
        throw InputError(fmt::format("{} has changed while it was read: {}", changed, words));
      if (dynamic_cast<const SingularError*>(&error) != nullptr) throw SingularError(words);
      throw NumericalError(words);
    } catch (const InputError& error) {
      throw InputError(solver::in_words_of_library(error.what()));
    } catch (const config::MemoryLimitError& error) {
      throw config::MemoryLimitError(solver::in_words_of_library(error.what()));
    }
  }

  template <class T>
  Factorization factor_in(const LinearSystem& system) {
    solver::SolveOptions options{
        .condition = options_.condition, .required_digits = options_.required_digits, .keep_factors = true};
    choose(options, system);
    const Config config = solver::config_of(options_);
    solver::SolveSteps<T> steps(system, options, config, kernels(config), {});
    auto run = std::make_unique<solver::Execution>(config, steps.reserved(), kernels(config));
    solver::SolveResult result = run_steps(steps, *run);
    solver::KeptFactors<T> factors = steps.take_factors();  // destroyed before the run
    fill_report(system, result, *run);
    if (result.condition) result.condition->singular = false;  // the report has a warning
    if (const auto wrong = solver::wrong_answer(system, options, result)) throw NumericalError(*wrong);
    const std::string changed = system.changed_input();
    if (!changed.empty()) throw InputError(fmt::format("{} has changed while it was read", changed));
    return solver::make_factorization<T>(std::move(run), std::move(factors),
                                         solver::factored_matrix(*system.a, system.stored, result));
  }

  /// Computes in `Computed`; returns the solution as T.
  template <class Computed, class T>
  std::vector<T> solve_in(const LinearSystem& system) {
    solver::SolveOptions options = solve_options();
    choose(options, system);
    if (over_ranks_) return solve_over_ranks<Computed, T>(system, options);
    if constexpr (std::is_same_v<Computed, T>)
      if (auto solution = solved_directly<T>(system, options)) return std::move(*solution);
    const Config config = config_for(system, options);
    solver::SolveSteps<Computed> steps(system, options, config, kernels(config), {});
    solver::Execution run(config, steps.reserved(), kernels(config));
    const solver::SolveResult result = run_steps(steps, run);
    fill_report(system, result, run);
    if (const auto wrong = solver::wrong_answer(system, options, result)) throw NumericalError(*wrong);
    return leading_rows<T>(steps.solution(), system);
  }

  template <class Computed, class T>
  std::vector<T> solve_over_ranks(const LinearSystem& system, const solver::SolveOptions& options) {
    const Config config = ranks_->settings_of_run(config_for(system, options));
    kernels(config);  // loaded now, since another error would be one of an attempt
    const solver::SystemDigests digests = solver::digests_of(system, options);
    compared_ = true;
    ranks_->require_same(digests);
    std::optional<std::string> retried;
    std::vector<T> solution = solver::solve_in_attempts<std::vector<T>>(
        options,
        [&](const solver::SolveOptions& with) { return solve_attempt<Computed, T>(system, with, config); },
        solver::RemoteErrors::by_type_of_cause,
        [this](double own) {
          return ranks_->gather({&own, 1});
        },
        [&](const std::string& why) { retried = why + "; tried again in double precision"; });
    if (retried) report_.warnings.push_back(solver::in_words_of_library(*retried));
    return solution;
  }
  template <class Computed, class T>
  std::vector<T> solve_attempt(const LinearSystem& system, const solver::SolveOptions& options,
                               const Config& config) {
    const solver::GridRank place = ranks_->next_place();
    try {
      solver::SolveSteps<Computed> steps(system, options, config, kernels(config), place);
      const solver::Front front =
          solver::has_graph(*options.method) ? solver::Front::ptg : solver::Front::flow;
      solver::Execution run(config, steps.reserved(), kernels(config), front, place.rank);
      return reporting_to_ranks(run, [&] {
        const solver::SolveResult result = run_steps(steps, run);
        fill_report(system, result, run);
        if (const auto wrong = solver::wrong_answer(system, options, result)) throw NumericalError(*wrong);
        return leading_rows<T>(steps.solution(), system);
      });
    } catch (const std::exception& error) {
      solver::give_up_rank(place.rank,
                           [&] { return std::string(error.what()); });  // if the run has not begun
      throw;
    }
  }
  template <class Body>
  auto reporting_to_ranks(solver::Execution& run, const Body& body) {
    try {
      return body();
    } catch (const std::exception& error) {
      run.runtime().give_up(stop_.stop_requested() ? "its call was cancelled" : error.what());
      throw;
    }
  }

  /// Nothing if the system is not small and plain.
  template <class T>
  std::optional<std::vector<T>> solved_directly(const LinearSystem& system,
                                                const solver::SolveOptions& options) {
    const Config config = solver::settings_of(options_);
    if (!solver::suits_direct_solve(system, options, config)) return {};
    const bool gains = system.unknowns() >= solver::direct_rows_for_threads;
    solver::DirectSolve<T> direct(system, options, kernels(config), gains ? workers(config) : 1);
    const auto result = direct.run();
    if (!result) return {};
    report_ =
        solver::library_report(system, *result, {.phases = direct.phases(), .warnings = direct.warnings()});
    if (stop_.stop_requested()) throw CancelledError("");
    if (const auto wrong = solver::wrong_answer(system, options, *result)) throw NumericalError(*wrong);
    return leading_rows<T>(direct.solution(), system);
  }
  unsigned workers(const Config& config) {
    if (config.has("workers")) return static_cast<unsigned>(config.count("workers"));
    if (!workers_) workers_ = machine::discover().workers;
    return *workers_;
  }

  /// For one run.
  Config config_for(const LinearSystem& system, const solver::SolveOptions& options) const {
    Config config = solver::config_of(options_);
    const solver::DenseProblem problem = system.problem(*options.method);
    solver::set_short_run(config, problem.flops(), problem.matrix_bytes());
    return config;
  }
  /// Loaded when they are first needed.
  const Kernels& kernels(const Config& config) {
    if (!kernels_) kernels_.emplace(solver::load_kernels_unchanged(config));
    return *kernels_;
  }
  solver::SolveOptions solve_options() const {
    return {
        .factor = options_.refine ? solver::FactorPrecision::single : solver::FactorPrecision::of_solution,
        .condition = options_.condition,
        .rank_tolerance = options_.rank_tolerance,
        .required_digits = options_.required_digits};
  }
  /// Throws an error of cancelled tasks, or another one, if a stop is requested before the end.
  template <class T>
  solver::SolveResult run_steps(solver::SolveSteps<T>& steps, solver::Execution& run) {
    solver::SolveResult result;
    {
      const std::stop_callback on_stop(stop_, [&run] { run.cancel(); });
      result = steps.run(run);
    }
    if (stop_.stop_requested()) throw CancelledError("");  // the run can no longer be used
    run.runtime().remove_checkpoint();
    return result;
  }

  template <class T, class Computed>
  static std::vector<T> leading_rows(const std::vector<Computed>& x, const LinearSystem& system) {
    std::vector<T> solution;
    solution.reserve(static_cast<std::size_t>(system.unknowns() * system.right_hand_sides()));
    for (std::int64_t c = 0; c < system.right_hand_sides(); ++c)
      for (std::int64_t i = 0; i < system.unknowns(); ++i)
        solution.push_back(scalar_cast<T>(x[static_cast<std::size_t>(i + c * system.long_side())]));
    return solution;
  }

  /// Sets the method of `options`. Throws UsageError, or InputError, if the system does not fit them.
  void choose(solver::SolveOptions& options, const LinearSystem& system) const {
    if (system.has_complex_numbers()) {
      const std::vector<MethodOption> given = solver::method_options(options_);
      if (const auto problem = solver::complex_problem_of(given, Wording::library))
        throw UsageError(*problem);
    }
    solver::choose_method(options, system, solver::operation_of(options_.method),
                          over_ranks_ ? solver::TasksRun::over_ranks : solver::TasksRun::in_flow,
                          Wording::library);
    solver::require_match(system, *options.method);
    if (const auto problem =
            solver::digits_problem_of(system.solution(), options_.required_digits, Wording::library))
      throw UsageError(*problem);
  }

  void fill_report(const LinearSystem& system, const solver::SolveResult& result, solver::Execution& run) {
    report_ =
        solver::library_report(system, result, {run.phases(), run.warnings(), run.runtime().disk_traffic()});
  }

  SolverOptions options_;
  std::stop_token stop_;
  std::optional<Kernels> kernels_;   // loaded by the first solve
  std::optional<unsigned> workers_;  // of this machine
  SolveReport report_;
  std::optional<solver::SolverRanks> ranks_;   // since the first call
  bool over_ranks_ = false, compared_ = true;  // in the current call
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
std::vector<float> Solver::solve(const MatrixSource<double>& a, std::span<const float> b,
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
std::vector<Solver::ComplexFloat> Solver::solve(const MatrixSource<Complex>& a,
                                                std::span<const ComplexFloat> b,
                                                std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<Solver::Complex> Solver::solve(const MatrixSource<double>& a, std::span<const Complex> b,
                                           std::int64_t right_hand_sides) {
  return implementation_->solve(stored(a), b, right_hand_sides);
}
std::vector<Solver::ComplexFloat> Solver::solve(const MatrixSource<double>& a,
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

SolvePlan Solver::plan(const MatrixSource<double>& a, std::int64_t right_hand_sides) {
  return implementation_->plan(stored(a), right_hand_sides);
}
SolvePlan Solver::plan(const MatrixSource<float>& a, std::int64_t right_hand_sides) {
  return implementation_->plan(stored(a), right_hand_sides);
}
SolvePlan Solver::plan(const MatrixSource<Complex>& a, std::int64_t right_hand_sides) {
  return implementation_->plan(stored(a), right_hand_sides);
}
SolvePlan Solver::plan(const MatrixSource<ComplexFloat>& a, std::int64_t right_hand_sides) {
  return implementation_->plan(stored(a), right_hand_sides);
}
SolvePlan Solver::plan(const std::string& a, std::int64_t right_hand_sides) {
  return implementation_->plan(data::open_matrix_file(a), right_hand_sides);
}
SolvePlan Solver::plan(std::int64_t rows, std::int64_t columns, ElementType element,
                       std::int64_t right_hand_sides) {
  return implementation_->plan(solver::shape_only("the matrix", element, rows, columns), right_hand_sides);
}

void Solver::stop_by(std::stop_token stop) { implementation_->stop_by(std::move(stop)); }
const SolveReport& Solver::report() const noexcept { return implementation_->report(); }

}  // namespace fairlead::linalg
