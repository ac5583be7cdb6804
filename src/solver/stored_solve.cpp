// The part of a solve that differs with factors in a file: its memory, and what the file states.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <optional>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/column_block.hpp"
#include "algorithms/linalg/least_squares_error.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "solver/inverse_estimate.hpp"
#include "solver/refined_steps.hpp"
#include "solver/solve_steps.hpp"
#include "solver/trust.hpp"

namespace fairlead::solver {

using linalg::BackwardError;
using linalg::LeastSquaresError;

/// For a solve with factors in a file.
template <class T>
Bytes SolveSteps<T>::bytes_with_stored_factors() const {
  const bool least_squares = is_least_squares(*options_.method);
  const std::int64_t at_once = linalg::columns_of_block(m_, columns());
  const Bytes vectors = static_cast<Bytes>(m_ * columns()) * sizeof(T);
  Bytes all = vectors + system_.b->memory_bytes() + linalg::source_staging_bytes;
  if (system_.a == nullptr) return all;
  const Bytes checking = least_squares ? LeastSquaresError<T>::scratch_bytes_per_worker(m_, at_once)
                                       : BackwardError<T>::scratch_bytes_per_worker(
                                             n_, BackwardError<T>::preferred_columns(n_, columns()));
  all +=
      workers_ * (checking + linalg::source_staging_bytes + staging_of_vectors) + system_.a->memory_bytes();
  all += least_squares ? LeastSquaresError<T>::bytes(m_, at_once) + RankDecision<T>::bytes(n_)
                       : refined_steps_bytes<T>(n_, columns()) + BackwardError<T>::bytes(n_);
  return options_.condition ? all + inverse_estimate_bytes<T>(n_) : all;
}

template <class T>
void SolveSteps<T>::with_stored_factors() {
  const FactorFile& file = *system_.factors;
  const FactoredMatrix& of = file.header().matrix;
  if (system_.a != nullptr && of.file_bytes != 0) {
    const data::FileVersion now = system_.a->version();
    if (now.bytes != of.file_bytes || now.modified_at.count() != of.modified_at_ns)
      run_->warn(fmt::format(
          "{} is not the file of which {} has the factors ({}), or has changed since: the solution "
          "is refined with what it has now",
          system_.a->name(), file.name(), of.name));
  }
  DenseProblem problem = problem_of(file.shape());
  problem.own_products = kernels_.has_own_products();
  problem.memory_limit = config_.bytes("memory");
  problem.reserved = reserved_;
  result_.problem = problem;
  result_.growth = of.growth;
  run_->reached(Milestone::tiled);
  // Of a triangular matrix, one triangle was read only if it was stated.
  const linalg::Stored triangle = problem.operation->solve->triangle;
  const bool is_triangle = triangle != linalg::Stored::both && triangle == of.stored;
  const auto matrix = system_.a == nullptr ? nullptr
                      : is_triangle ? triangular_matrix<T>(system_.a, triangle, OtherTriangle::is_ignored)
                                    : general_matrix<T>(system_.a, of.stored);
  finish(stored_factors<T>(run_->runtime(), kernels_, problem, system_.factors), matrix.get());
  result_.input_bytes_read = file.bytes_read();
  if (system_.a == nullptr && of.condition)
    if (const auto warning = kept_factors_warning(*of.condition, epsilon_of_scalar<T>); !warning.empty())
      run_->warn(fmt::format("{}: {}. Give the matrix, too, to check the solution", file.name(), warning));
  if (system_.a == nullptr && of.backward_error &&
      !(*of.backward_error <= linalg::max_correct_backward_error<T>(m_)))
    run_->warn(fmt::format("{}: {}. Give the matrix, too, to refine it", file.name(),
                           grown_factors_warning(*of.backward_error)));
  if (system_.a == nullptr && !of.backward_error)
    run_->warn(fmt::format("{}: the factors were never checked. Give the matrix, too, to check the solution",
                           file.name()));
  if (system_.a != nullptr && !(result_.backward_error <= linalg::max_correct_backward_error<T>(m_)))
    run_->warn(fmt::format(
        "{} has factors of another matrix than {}, or the matrix is too close to singular: factor it "
        "again",
        file.name(), system_.a->name()));
}

/// Of kept factors, if the solution for ones, by which they are checked, overflows.
template <class T>
bool SolveSteps<T>::remains_unchecked() {
  if (!options_.keep_factors || std::ranges::all_of(x_, is_finite_number<T>)) return false;
  run_->warn(
      "the factors are not checked: the numbers of the matrix are so large or small that a solution for ones "
      "overflows");
  result_.is_checked = false;
  return true;
}

template <class T>
void SolveSteps<T>::require_finite_solution() const {
  for (std::int64_t c = 0; c < columns(); ++c)
    for (std::int64_t i = 0; i < n_; ++i)
      if (!is_finite_number(x_[static_cast<std::size_t>(i + c * m_)]))
        throw NumericalError(
            fmt::format("the solution is not finite in row {}, column {} (counted from 0): the matrix is too "
                        "close to singular, or "
                        "its numbers are too large or too small, for this precision",
                        i, c));
}

FactoredMatrix factored_matrix(const data::StoredMatrix& a, linalg::Stored stored,
                               const SolveResult& result) {
  const data::FileVersion version = a.version();
  FactoredMatrix matrix{.name = a.name(),
                        .file_bytes = version.bytes,
                        .modified_at_ns = version.modified_at.count(),
                        .stored = stored,
                        .norm = result.matrix_norm,
                        .largest = result.largest,
                        .growth = result.growth,
                        .condition = std::nullopt,
                        .asymmetry = result.asymmetry,
                        .backward_error = std::nullopt};
  if (result.is_checked) matrix.backward_error = result.first_backward_error;
  if (result.condition) matrix.condition = result.condition->number;
  return matrix;
}

#define FAIRLEAD_STORED_SOLVE_OF(T)                                \
  template Bytes SolveSteps<T>::bytes_with_stored_factors() const; \
  template void SolveSteps<T>::with_stored_factors();              \
  template bool SolveSteps<T>::remains_unchecked();                \
  template void SolveSteps<T>::require_finite_solution() const;
FAIRLEAD_STORED_SOLVE_OF(float)
FAIRLEAD_STORED_SOLVE_OF(double)
FAIRLEAD_STORED_SOLVE_OF(std::complex<float>)
FAIRLEAD_STORED_SOLVE_OF(std::complex<double>)
#undef FAIRLEAD_STORED_SOLVE_OF

}  // namespace fairlead::solver
