// See solver_options.hpp.
#include "solver/solver_options.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include "machine/machine.hpp"

namespace fairlead::solver {

namespace {

using linalg::Method;
using linalg::Stored;

struct NamedMethod {
  Method method;
  const DenseOperation* operation;  ///< null: chosen by the matrix
};
constexpr NamedMethod methods[] = {{Method::automatic, nullptr},
                                   {Method::cholesky, &cholesky_operation},
                                   {Method::ldlt, &ldlt_operation},
                                   {Method::lu, &pivoted_lu_operation},
                                   {Method::lu_incremental, &incremental_lu_operation},
                                   {Method::lu_nopivot, &unpivoted_lu_operation},
                                   {Method::qr, &qr_operation}};

}  // namespace

const DenseOperation* operation_of(Method method) noexcept {
  for (const NamedMethod& one : methods)
    if (one.method == method) return one.operation;
  return nullptr;
}

linalg::Method method_of(const DenseOperation& operation) noexcept {
  for (const NamedMethod& one : methods)
    if (one.operation == &operation) return one.method;
  return linalg::Method::automatic;
}

std::vector<MethodOption> method_options(const linalg::SolverOptions& options) {
  std::vector<MethodOption> given;
  if (options.refine) given.push_back(MethodOption::refine);
  if (options.stored == Stored::lower) given.push_back(MethodOption::lower);
  if (options.stored == Stored::upper) given.push_back(MethodOption::upper);
  if (options.stored == Stored::mean) given.push_back(MethodOption::mean);
  if (options.rank_tolerance) given.push_back(MethodOption::rank_tolerance);
  return given;
}

void require_valid(const linalg::SolverOptions& options) {
  const std::vector<MethodOption> given = method_options(options);
  const auto problem = problem_of({.method = operation_of(options.method),
                                   .options = given,
                                   .rank_tolerance = options.rank_tolerance,
                                   .required_digits = options.required_digits,
                                   .condition = options.condition},
                                  Wording::library);
  if (problem) throw UsageError(*problem);
  if (options.tile < 0) throw UsageError(fmt::format("tile is {}: it is a number of elements", options.tile));
}

Config settings_of(const linalg::SolverOptions& options) {
  Config config = options.config;
  if (options.memory != 0) config.set("memory", options.memory);
  if (options.tile != 0) config.set("tile", options.tile);
  if (options.workers != 0) config.set("workers", options.workers);
  return config;
}

Config config_of(const linalg::SolverOptions& options) {
  Config config = settings_of(options);
  if (!config.has("memory") || !config.has("workers")) {
    const machine::Machine machine = machine::discover();
    if (!config.has("memory")) config.set("memory", machine.memory.usable_bytes());
    if (!config.has("workers")) config.set("workers", machine.workers);
  }
  return config;
}

void set_short_run(Config& config, double flops, Bytes matrix_bytes) {
  constexpr double short_run_flops = 2e10;
  if (flops < short_run_flops && 4 * matrix_bytes < config.bytes("memory"))
    config.set("cache-directory", "none");
}

}  // namespace fairlead::solver

namespace fairlead::linalg {

std::string_view name_of(Method method) noexcept {
  const solver::DenseOperation* const operation = solver::operation_of(method);
  return operation == nullptr ? "automatic" : operation->key;
}

}  // namespace fairlead::linalg
