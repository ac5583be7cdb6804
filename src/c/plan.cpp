// Plans of the C interface.
#include "solver/plan.hpp"

#include <fairlead.h>

#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "base/scalar.hpp"
#include "c/matrix.hpp"
#include "c/options.hpp"
#include "c/solver.hpp"
#include "c/status.hpp"
#include "c/versioned_struct.hpp"
#include "solver/method_options.hpp"

namespace fairlead::c {

namespace {

fairlead_plan plan_of(const fairlead_solver& it) {
  const linalg::SolvePlan& plan = it.plan;
  return {.struct_bytes = sizeof(fairlead_plan),
          .method = number_of(plan.method),
          .precision = number_of(plan.precision),
          .method_reason = plan.method_reason.c_str(),
          .rows = plan.rows,
          .columns = plan.columns,
          .right_hand_sides = plan.right_hand_sides,
          .tile = plan.tile,
          .workers = plan.workers,
          .memory_bytes = plan.memory,
          .least_memory_bytes = plan.least_memory,
          .in_core_memory_bytes = plan.in_core_memory,
          .disk_bytes = plan.disk_space,
          .free_disk_bytes = plan.free_disk_space,
          .input_bytes = plan.input_bytes,
          .output_bytes = plan.output_bytes,
          .spill_bytes_read = plan.spill_bytes_read,
          .spill_bytes_written = plan.spill_bytes_written,
          .check_bytes_read = plan.check_bytes_read,
          .check_bytes_written = plan.check_bytes_written,
          .seconds = plan.seconds,
          .least_seconds = plan.least_seconds,
          .most_seconds = plan.most_seconds,
          .phases = it.plan_arrays.phases.data(),
          .phase_count = it.plan_arrays.phases.size(),
          .assumptions = it.plan_arrays.texts.data(),
          .assumption_count = it.plan_arrays.texts.size(),
          .text = it.plan_text.c_str()};
}

/// make(solver, stop) returns the plan.
template <class Make>
void write_plan(fairlead_solver* solver, fairlead_plan* plan, std::size_t plan_bytes, const Make& make) {
  fairlead_solver& it = *required(solver, "solver");
  required(plan, "plan");
  it.thread.run(
      [&](const std::stop_token& stop) {
        const std::lock_guard guard(it.calls);
        it.solver.stop_by(stop);
        it.plan = make(it.solver, stop);
        if (stop.stop_requested()) throw linalg::CancelledError("the plan was cancelled");
        for (std::string& text : it.plan.assumptions) text = solver::in_words_of_library(std::move(text));
        it.plan_arrays.assign(it.plan.phases, it.plan.assumptions);
        it.plan_text = solver::in_words_of_library(solver::text_of(it.plan));
      },
      it.read.is_cancelled);
  const std::lock_guard guard(it.calls);
  write_versioned(plan_of(it), plan, plan_bytes, "plan");
}

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_solver_plan(fairlead_solver* solver, const fairlead_matrix* a,
                                     int64_t right_hand_sides, fairlead_plan* plan, size_t plan_bytes) {
  return c::status_of([&] {
    const fairlead_matrix& matrix = *c::required(a, "a");
    c::write_plan(solver, plan, plan_bytes, [&](linalg::Solver& with, const std::stop_token& stop) {
      return c::reading(matrix, stop,
                        [&](const auto& source) { return with.plan(source, right_hand_sides); });
    });
  });
}

fairlead_status fairlead_solver_plan_shape(fairlead_solver* solver, int64_t rows, int64_t columns,
                                           fairlead_element element, int64_t right_hand_sides,
                                           fairlead_plan* plan, size_t plan_bytes) {
  return c::status_of([&] {
    const ElementType type = c::with_element(element, []<class T>(T) { return element_type_of<T>; });
    c::write_plan(solver, plan, plan_bytes, [&](linalg::Solver& with, const std::stop_token&) {
      return with.plan(rows, columns, type, right_hand_sides);
    });
  });
}
