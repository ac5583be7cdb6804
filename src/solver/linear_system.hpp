// A system of linear equations or a least squares problem, how to solve it, and the result.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "algorithms/linalg/rbf_matrix.hpp"
#include "algorithms/linalg/symmetric_reader.hpp"
#include "data/matrix/stored_matrix.hpp"
#include "report/run_report.hpp"
#include "solver/dense_problem.hpp"
#include "solver/factor_file.hpp"

namespace fairlead::solver {

/// A x = b; the least squares solution if A has more rows than columns, that of smallest norm if it has fewer.
struct LinearSystem {
  std::shared_ptr<const data::StoredMatrix> a, b;     ///< a: the matrix or the points that it is made of
  std::shared_ptr<const linalg::RbfMatrix> kernel{};  ///< the matrix, computed from points; null: it is a
  linalg::Stored stored = linalg::Stored::both;       ///< of a symmetric matrix
  /// Factors to solve with; `a`, if it is given, serves to check and refine the solution. Null: `a` is factored.
  std::shared_ptr<const FactorFile> factors{};

  bool of_points() const noexcept { return kernel != nullptr; }
  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(b->rows()); }
  std::int64_t unknowns() const noexcept {
    if (factors != nullptr) return factors->shape().columns;
    return static_cast<std::int64_t>(of_points() ? b->rows() : a->columns());
  }
  /// The larger and the smaller one of rows() and unknowns(). A matrix with fewer rows than columns is factored as its
  /// transpose, so that these are the rows and columns of what is factored.
  std::int64_t long_side() const noexcept { return std::max(rows(), unknowns()); }
  std::int64_t short_side() const noexcept { return std::min(rows(), unknowns()); }
  std::int64_t right_hand_sides() const noexcept { return static_cast<std::int64_t>(b->columns()); }

  /// As a problem for that method, whose tile is not chosen yet.
  DenseProblem problem(const DenseOperation& method) const {
    return {.operation = &method,
            .title = {},
            .n = short_side(),
            .m = rows() == unknowns() ? 0 : long_side(),
            .tile = 1,
            .element = solution()};
  }
  /// The type of the solution by NumPy's promotion: single precision if A and b have it, complex if one of them is.
  data::ElementType solution() const noexcept;
  /// Whether the matrix or the right-hand sides are complex.
  bool has_complex_numbers() const noexcept;
  /// The first of the files that was written to since it was opened; empty: none.
  std::string changed_input() const;
};

/// Throws InputError if the method is not for matrices of that shape or with such elements, or A and b differ in rows.
void require_match(const LinearSystem& system, const DenseOperation& method);

/// The precision of the factor.
enum class FactorPrecision : std::uint8_t {
  of_solution,
  single,  // and the solution is refined
  tf32,    // the same, with products in TF32 where a device has that
};

struct SolveOptions {
  const DenseOperation* method = &cholesky_operation;
  std::string method_reason{};  ///< why, if the method was chosen
  /// Used if the matrix turns out to be unsuitable for `method`; null: that is an error.
  const DenseOperation* fallback = nullptr;
  std::string fallback_note{};  ///< why this method is the fallback; empty: it is the usual one
  /// The fallback for a matrix that is symmetric, as far as that was found out; null: `fallback`.
  const DenseOperation* symmetric_fallback = nullptr;
  /// Whether a matrix that turns out to be triangular is solved as such, in place of the fallback.
  bool may_be_triangular = false;
  FactorPrecision factor = FactorPrecision::of_solution;  ///< the first attempt; for symmetric matrices
  bool condition = true;                                  ///< estimate condition and forward error
  /// Singular values up to this fraction of the largest count as zero. None: epsilon times the larger
  /// dimension if the matrix is not square; a square one is not decomposed.
  std::optional<double> rank_tolerance{};
  std::optional<int> required_digits{};
  bool keep_factors = false;  ///< SolveSteps::take_factors() follows
};

struct SolveResult {
  DenseProblem problem{};       ///< with the method, the tile, and bytes
  std::string method_reason{};  ///< why the method, if it was chosen
  double backward_error = 0, backward_error_limit = 0;
  bool is_checked = true;               ///< false: the backward error could not be computed
  double first_backward_error = 0;      ///< before refinement; of least squares, that of the solution
  std::optional<double> matrix_norm{};  ///< of A, in the infinity norm
  std::optional<double> largest{};      ///< the largest absolute value of an element of A, of LU
  std::optional<report::ConditionReport> condition{};
  std::optional<int> refinement_steps{};
  std::optional<double> growth{};     ///< the largest element of U divided by that of A
  std::optional<double> asymmetry{};  ///< of a matrix that is not quite symmetric
  std::optional<report::LeastSquaresResidual> residual{};
  std::optional<report::NumericalRank> numerical_rank{};
  /// As of RunReport, for a solution in double precision that goes to single.
  std::optional<double> lost_in_file{}, rounded_in_file{};
  std::optional<std::uint64_t> calls_in_tf32{};
  std::optional<Bytes> input_bytes_read{};  ///< of A, to read it into tiles; none: it is computed
  double seconds = 0;                       ///< of the phases that count
  double given_up_seconds = 0;              ///< of these, in attempts that were given up
};

}  // namespace fairlead::solver
