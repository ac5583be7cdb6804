// Factors the matrix in a file for a subcommand, and passes the factors on while the run exists.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>
#include <fairlead/matrix_file.hpp>

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/linalg/source_matrix.hpp"
#include "base/scalar.hpp"
#include "data/matrix/stored_matrix.hpp"
#include "fairlead/solve/counted_run.hpp"
#include "fairlead/subcommand.hpp"
#include "solver/linear_system.hpp"
#include "solver/solve_steps.hpp"

namespace fairlead::app {

/// How a matrix is factored.
inline constexpr std::array factor_options{
    Setting{.key = "method",
            .type = SettingType::text,
            .default_value = "auto",
            .value_name = "METHOD",
            .help = "a method of fairlead solve, or auto: cholesky if A is symmetric positive definite, "
                    "ldlt if it is symmetric, qr if it has more rows than columns, otherwise lu"},
    advanced_flag("no-condition", "do not estimate the condition number (saves four sweeps over the factor)"),
    advanced_flag("lower", "A is symmetric: read only its lower triangle"),
    advanced_flag("upper", "A is symmetric: read only its upper triangle"),
    advanced_flag("symmetrize",
                  "use (A + A^T) / 2 if rounding made A not quite symmetric: half of the digits must agree")};

/// The matrix in a file and how to factor it. Throws ConfigError, InputError.
struct MatrixToFactor {
  MatrixToFactor(const Config& config, const std::string& path);

  std::shared_ptr<const data::StoredMatrix> a;
  linalg::Stored stored;
  solver::SolveOptions solving;
};

/// Calls use(run, factors, result, options) with the factors. Throws NumericalError if they are wrong.
template <class T, class Use>
auto with_factors(const MatrixToFactor& matrix, const Config& config, const linalg::Kernels& kernels,
                  const Use& use) {
  // The right-hand side of a solve that checks the factors.
  const std::vector<T> ones(matrix.a->rows(), T(1));
  const solver::LinearSystem system{.a = matrix.a,
                                    .b = linalg::stored_matrix_of(linalg::matrix_in_memory(
                                        ones.data(), static_cast<std::int64_t>(ones.size()), 1)),
                                    .stored = matrix.stored};
  solver::require_match(system, *matrix.solving.method);
  solver::SolveSteps<T> steps(system, matrix.solving, config, kernels, {});
  CountedRun run(config, steps.reserved(), kernels);
  return run.report_failure_of([&] {
    try {
      const solver::SolveResult result = steps.run(run);
      const solver::KeptFactors<T> factors = steps.take_factors();
      if (result.is_checked && !(result.backward_error <= result.backward_error_limit))
        throw NumericalError(
            fmt::format("the factors are wrong: the backward error of a solution is {:.1e}, above the "
                        "limit of {:.1e}{}",
                        result.backward_error, result.backward_error_limit,
                        result.growth ? fmt::format(". Elements grew by {:.1e}", *result.growth) : ""));
      return use(run, factors, result, matrix.solving);
    } catch (const NumericalError& error) {
      if (!matrix.a->changed()) throw;
      throw InputError(fmt::format("{} has changed while it was read: {}", matrix.a->name(), error.what()));
    }
  });
}

}  // namespace fairlead::app
