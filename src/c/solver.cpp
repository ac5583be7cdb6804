// The solver of the C interface: its solves and factorizations, and their report.
#include "c/solver.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/scalar.hpp"
#include "c/factors.hpp"
#include "c/matrix.hpp"
#include "c/status.hpp"
#include "c/versioned_struct.hpp"

namespace fairlead::c {

void ArraysOfReport::assign(const std::vector<linalg::SolvePhase>& of_phases,
                            const std::vector<std::string>& of_texts) {
  phases.clear();
  for (const linalg::SolvePhase& phase : of_phases)
    phases.push_back({phase.name.c_str(), phase.seconds, phase.counts ? 1 : 0});
  texts.clear();
  for (const std::string& text : of_texts) texts.push_back(text.c_str());
}

namespace {

/// Copies the report of the solver, whose texts and arrays then stay until the next call.
void keep_report(fairlead_solver& it) {
  it.report = it.solver.report();
  it.report_arrays.assign(it.report.phases, it.report.warnings);
}

/// Runs body() with the solver, until a stop is requested.
template <class Body>
auto with_solver(fairlead_solver& it, const std::stop_token& stop, const Body& body) {
  const std::lock_guard guard(it.calls);
  struct KeptReport {
    ~KeptReport() { keep_report(solver); }
    fairlead_solver& solver;
  } const kept{it};
  it.solver.stop_by(stop);
  return body(it.solver);
}

/// A: of the matrix; T: of b and x.
template <class A, class T>
std::vector<T> solution_of(linalg::Solver& solver, const linalg::MatrixSource<A>& a, std::span<const T> b,
                           std::int64_t right_hand_sides) {
  if constexpr (is_complex_number<A> && !is_complex_number<T>)
    throw UsageError("the matrix is complex, and b is real: pass b as complex numbers, as the solution is");
  else
    return solver.solve(a, b, right_hand_sides);
}

fairlead_report report_of(const fairlead_solver& it) {
  const linalg::SolveReport& report = it.report;
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  return {.struct_bytes = sizeof(fairlead_report),
          .method = number_of(report.method),
          .precision = number_of(report.precision),
          .method_reason = report.method_reason.c_str(),
          .rows = report.rows,
          .columns = report.columns,
          .right_hand_sides = report.right_hand_sides,
          .backward_error = report.backward_error,
          .backward_error_limit = report.backward_error_limit,
          .condition = report.condition.value_or(unknown),
          .forward_error = report.forward_error.value_or(unknown),
          .growth = report.growth.value_or(unknown),
          .asymmetry = report.asymmetry.value_or(unknown),
          .residual = report.residual.value_or(unknown),
          .rank = report.rank.value_or(-1),
          .digits = report.digits.value_or(-1),
          .refinement_steps = report.refinement_steps,
          .tile = report.tile,
          .seconds = report.seconds,
          .bytes_read = report.bytes_read,
          .bytes_written = report.bytes_written,
          .phases = it.report_arrays.phases.data(),
          .phase_count = it.report_arrays.phases.size(),
          .warnings = it.report_arrays.texts.data(),
          .warning_count = it.report_arrays.texts.size()};
}

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_solver_create(const fairlead_options* options, fairlead_solver** solver) {
  return c::status_of([&] {
    c::required(solver, "solver");
    *solver = new fairlead_solver(options);
  });
}

fairlead_status fairlead_solver_solve(fairlead_solver* solver, const fairlead_matrix* a,
                                      fairlead_element element, const void* b, int64_t right_hand_sides,
                                      void* x) {
  return c::status_of([&] {
    fairlead_solver& it = *c::required(solver, "solver");
    const fairlead_matrix& matrix = *c::required(a, "a");
    c::required(b, "b");
    c::required(x, "x");
    c::with_element(element, [&]<class T>(T) {
      const std::span<const T> sides(static_cast<const T*>(b), c::elements_of(matrix.rows, right_hand_sides));
      std::vector<T> solution;
      it.thread.run(
          [&](const std::stop_token& stop) {
            solution = c::reading(matrix, stop, [&](const auto& source) {
              return c::with_solver(it, stop, [&](linalg::Solver& with) {
                return c::solution_of(with, source, sides, right_hand_sides);
              });
            });
          },
          it.read.is_cancelled);
      std::ranges::copy(solution, static_cast<T*>(x));
    });
  });
}

fairlead_status fairlead_solver_factor(fairlead_solver* solver, const fairlead_matrix* a,
                                       fairlead_factors** factors) {
  return c::status_of([&] {
    fairlead_solver& it = *c::required(solver, "solver");
    const fairlead_matrix& matrix = *c::required(a, "a");
    c::required(factors, "factors");
    *factors = c::make_factors(it.read.is_cancelled, [&](const std::stop_token& stop) {
                 return c::reading(matrix, stop, [&](const auto& source) {
                   return c::with_solver(it, stop, [&](linalg::Solver& with) { return with.factor(source); });
                 });
               }).release();
  });
}

fairlead_status fairlead_solver_report(fairlead_solver* solver, fairlead_report* report,
                                       size_t report_bytes) {
  return c::status_of([&] {
    fairlead_solver& it = *c::required(solver, "solver");
    const std::lock_guard guard(it.calls);
    c::write_versioned(c::report_of(it), report, report_bytes, "report");
  });
}

void fairlead_solver_free(fairlead_solver* solver) {
  // In a forked child its thread does not exist: it is left to the end of the process.
  if (solver != nullptr && solver->thread.same_process()) delete solver;
}
