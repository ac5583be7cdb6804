// See minimum_norm_check.hpp.
#include "solver/minimum_norm_check.hpp"

#include <fairlead/matrix_file.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/column_block.hpp"
#include "algorithms/linalg/larger.hpp"

namespace fairlead::solver {

namespace {

using linalg::BackwardError;

struct CheckedEquations {
  double backward_error = 0, matrix_norm = 0;
};

/// The backward error of A x = b. `residual`: null, or receives b - A x.
template <class T>
CheckedEquations check_equations(Execution& run, const linalg::Kernels& kernels,
                                 const std::shared_ptr<const linalg::MatrixSource<WideOf<T>>>& a,
                                 const std::shared_ptr<const linalg::MatrixSource<WideOf<T>>>& b, const T* x,
                                 std::int64_t columns, std::uint32_t readers, WideOf<T>* residual) {
  const std::int64_t m = a->rows(), n = a->columns();
  CheckedEquations all;
  linalg::for_each_block(
      columns, BackwardError<T>::preferred_columns(m, columns), [&](std::int64_t first, std::int64_t count) {
        BackwardError<T> error(kernels, a, std::make_shared<linalg::ColumnBlock<WideOf<T>>>(b, first, count),
                               x + first * n, count, residual == nullptr ? nullptr : residual + first * m);
        run.begin("error check", error.tasks());
        error.submit(run.flow(), run.runtime().rank(), readers);
        run.end_uncounted();
        error.combine_ranks(run.runtime());
        all.backward_error = linalg::larger(all.backward_error, error.value());
        all.matrix_norm = error.matrix_norm();
      });
  return all;
}

double two_norm(const auto* vector, std::int64_t count) {
  double norm = 0;
  for (std::int64_t i = 0; i < count; ++i) norm = std::hypot(norm, magnitude(vector[i]));
  return norm;
}

/// The residual of dependent equations is orthogonal to the space of the columns of A: the error is what is not, in
/// relation to || A || || x || + || b ||. Also sets the residual of the report.
template <class T>
double error_of_dependent(RankDecision<T>& rank, const MinimumNormSolution<T>& solution, double matrix_norm,
                          const std::vector<T>& x, std::vector<WideOf<T>>& residual,
                          report::LeastSquaresResidual& reported) {
  const std::int64_t m = solution.a->rows(), n = solution.a->columns();
  std::vector<double> sizes;
  for (std::int64_t c = 0; c < solution.columns; ++c) {
    const double size_of_b = solution.norms_of_b[static_cast<std::size_t>(c)],
                 left = two_norm(residual.data() + c * m, m);
    sizes.push_back(matrix_norm * two_norm(x.data() + c * n, n) + size_of_b);
    if (size_of_b > 0) reported.relative = linalg::larger(reported.relative, left / size_of_b);
  }
  // R is that of A^T.
  std::ranges::transform(residual, residual.begin(), conjugate<WideOf<T>>);
  const std::vector<double> inside = rank.norms_within_rows(residual.data(), solution.columns);
  double error = 0;
  for (std::size_t c = 0; c < inside.size(); ++c)
    if (inside[c] > 0) error = linalg::larger(error, inside[c] / sizes[c]);
  return error;
}

}  // namespace

template <class T>
JudgedLeastSquares judge_minimum_norm(Execution& run, const linalg::Kernels& kernels, RankDecision<T>& rank,
                                      const MinimumNormSolution<T>& solution) {
  using Wide = WideOf<T>;
  const std::int64_t m = solution.a->rows(), n = solution.a->columns(), columns = solution.columns;
  const bool dependent = rank.is_reduced();
  const CheckedEquations combination = check_equations<T>(
      run, kernels, solution.transposed, linalg::matrix_in_memory(solution.x_conjugate, n, columns),
      solution.w_conjugate, columns, solution.readers, nullptr);
  std::vector<T> x(solution.x_conjugate, solution.x_conjugate + n * columns);
  std::ranges::transform(x, x.begin(), conjugate<T>);
  std::vector<Wide> residual(dependent ? static_cast<std::size_t>(m * columns) : 0);
  CheckedEquations equations = check_equations<T>(run, kernels, solution.a, solution.b, x.data(), columns,
                                                  solution.readers, dependent ? residual.data() : nullptr);
  JudgedLeastSquares judged;
  if (dependent)
    equations.backward_error =
        error_of_dependent(rank, solution, equations.matrix_norm, x, residual, judged.residual);
  judged.backward_error = linalg::larger(equations.backward_error, combination.backward_error);
  if (!solution.wants_condition || !(judged.backward_error <= solution.limit) || rank.rank().rank == 0)
    return judged;
  // Independent equations have a solution: there is no residual that would let the condition count twice.
  const double both = equations.backward_error + combination.backward_error;
  const double left = judged.residual.relative, none = std::numeric_limits<double>::infinity();
  judged.condition = condition_report(
      rank.condition(), normwise_least_squares_error(n, rank.condition(), both, left > 0 ? 1 / left : none),
      solution.precision);
  judged.condition->is_exact = rank.rank().values.has_value();
  judged.condition->seconds = solution.of_inverse.seconds;
  judged.condition->sweeps = solution.of_inverse.sweeps;
  judged.condition->columns = static_cast<std::uint64_t>(columns);
  const std::string warning = condition_warning(*judged.condition, solution.precision);
  if (!warning.empty()) run.warn(warning);
  return judged;
}

#define FAIRLEAD_MINIMUM_NORM_CHECK_OF(T)                                                                 \
  template JudgedLeastSquares judge_minimum_norm<T>(Execution&, const linalg::Kernels&, RankDecision<T>&, \
                                                    const MinimumNormSolution<T>&);
FAIRLEAD_MINIMUM_NORM_CHECK_OF(float)
FAIRLEAD_MINIMUM_NORM_CHECK_OF(double)
FAIRLEAD_MINIMUM_NORM_CHECK_OF(std::complex<float>)
FAIRLEAD_MINIMUM_NORM_CHECK_OF(std::complex<double>)
#undef FAIRLEAD_MINIMUM_NORM_CHECK_OF

}  // namespace fairlead::solver
