// See choose_method.hpp.
#include "solver/choose_method.hpp"

#include <fmt/format.h>

namespace fairlead::solver {

namespace {

bool is_square(const LinearSystem& system) {
  return system.of_points() || (system.a->dimensions() == 2 && system.a->rows() == system.a->columns());
}

/// For matrices that Cholesky does not suit.
void set_fallback(SolveOptions& options, TasksRun tasks) {
  // Partial pivoting factors a whole column of tiles in one task, on one rank. Incremental pivoting has the tasks of LU
  // without pivoting, which ranks share, and a graph.
  options.fallback = tasks == TasksRun::in_flow ? &pivoted_lu_operation : &incremental_lu_operation;
  // Over ranks LDL^T moves more bytes and takes longer.
  if (tasks == TasksRun::in_flow) options.symmetric_fallback = &ldlt_operation;
  options.may_be_triangular = tasks != TasksRun::in_graph;
  if (tasks == TasksRun::over_ranks)
    options.fallback_note = "over ranks, incremental pivoting needs no whole columns of the matrix";
  if (tasks == TasksRun::in_graph)
    options.fallback_note = "LU with partial pivoting is not available as a graph";
}

}  // namespace

void choose_method(SolveOptions& options, const LinearSystem& system, const DenseOperation* given,
                   TasksRun tasks, Wording wording) {
  const char* const kind = system.has_complex_numbers() ? "Hermitian" : "symmetric";
  if (given == &triangular_operation) {
    options.method = system.stored == linalg::Stored::upper ? &upper_triangular_operation : given;
    options.may_be_triangular = system.stored == linalg::Stored::both;  // upper triangular, too
  } else if (given != nullptr) {
    options.method = given;
  } else if (system.of_points()) {
    options.method = &cholesky_operation;
    options.method_reason = "the matrix of a kernel is symmetric positive definite";
  } else if (system.stored != linalg::Stored::both) {
    options.method = &cholesky_operation;
    options.method_reason = system.stored == linalg::Stored::mean
                                ? fmt::format("the mean of the triangles is {}", kind)
                                : fmt::format("one triangle of a {} matrix is stored", kind);
    set_fallback(options, tasks);
  } else if (options.rank_tolerance) {
    options.method = &qr_operation;
    options.method_reason = fmt::format("{} requires it", name_of(MethodOption::rank_tolerance, wording));
  } else if (!is_square(system)) {
    options.method = &qr_operation;
    options.method_reason = system.a->rows() > system.a->columns() ? "the matrix has more rows than columns"
                                                                   : "the matrix has fewer rows than columns";
  } else {
    options.method = &cholesky_operation;
    options.method_reason = fmt::format("the matrix is {} positive definite", kind);
    set_fallback(options, tasks);
  }
  // With another method, --refine has no effect: only those of definite matrices refine a factor in single precision.
  if (!options.method->solve->symmetric || options.method->solve->grows)
    options.factor = FactorPrecision::of_solution;
}

std::string reason_of_triangle(linalg::Stored triangle) {
  return fmt::format("all elements {} the diagonal are zero",
                     triangle == linalg::Stored::lower ? "above" : "below");
}

SolveOptions with_fallback(const SolveOptions& options, const DenseOperation& fallback,
                           const std::string& why) {
  SolveOptions next = options;
  next.method = &fallback;
  next.method_reason = options.fallback_note.empty() || &fallback != options.fallback
                           ? why
                           : fmt::format("{}; {}", why, options.fallback_note);
  next.fallback = next.symmetric_fallback = nullptr;
  next.may_be_triangular = false;
  next.factor = FactorPrecision::of_solution;
  return next;
}

}  // namespace fairlead::solver
