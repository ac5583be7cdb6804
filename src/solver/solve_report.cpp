// See solve_report.hpp.
#include "solver/solve_report.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace fairlead::solver {

namespace {

/// The matrix to which errors refer, in words; empty: that of the file.
constexpr std::string_view part_of_file(linalg::Stored stored) {
  switch (stored) {
    case linalg::Stored::lower:
      return " (its lower triangle, mirrored)";
    case linalg::Stored::upper:
      return " (its upper triangle, mirrored)";
    case linalg::Stored::mean:
      return " (the mean of its triangles)";
    case linalg::Stored::both:
      break;
  }
  return "";
}

std::string description_of(const LinearSystem& system) {
  const std::string matrix = system.factors != nullptr ? system.factors->name()
                             : system.of_points()      ? "(kernel matrix)"
                                                       : system.a->name();
  std::string text = fmt::format("{}{} x = {}", matrix, part_of_file(system.stored), system.b->name());
  if (system.right_hand_sides() > 1) text += fmt::format(" ({} columns)", system.right_hand_sides());
  return text;
}

}  // namespace

void add_result(report::RunReport& report, const LinearSystem& system, const SolveOptions& options,
                const SolveResult& result) {
  report.element = report::element_name(result.problem.element);
  report.method = result.problem.operation->key;
  report.method_reason = result.method_reason;
  report.seconds = result.seconds;
  if (result.is_checked) {
    report.backward_error = result.backward_error;
    report.backward_error_limit = result.backward_error_limit;
  }
  report.lost_in_file = result.lost_in_file;
  report.rounded_in_file = result.rounded_in_file;
  report.asymmetry = result.asymmetry;
  report.refinement_steps = result.refinement_steps;
  report.calls_in_tf32 = result.calls_in_tf32;
  report.condition = result.condition;
  report.required_digits = options.required_digits;
  report.growth = result.growth;
  report.residual = result.residual;
  report.numerical_rank = result.numerical_rank;
  report.of = description_of(system);
  if (!result.input_bytes_read) return;
  report::LinkReport link{.name = system.factors != nullptr ? "factors" : "A.npy"};
  link.from_home[static_cast<std::size_t>(memory::Cause::demand)] = {*result.input_bytes_read, 1};
  report.links.push_back(link);
  report.input_bytes = system.factors != nullptr ? system.factors->bytes() : system.a->data_bytes();
  report.input_bytes_read = *result.input_bytes_read;
}

}  // namespace fairlead::solver
