// See solver_options.hpp.
#include "solver/solver_options.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include "machine/machine.hpp"

namespace fairlead::solver {

namespace {
using linalg::Method;
using linalg::Stored;
}  // namespace

const DenseOperation* operation_of(Method method) noexcept {
  for (const DenseOperation* const operation : all_methods())
    if (operation->solve->method == method) return operation;
  return nullptr;
}

Method method_of(const DenseOperation& operation) noexcept {
  return operation.solve ? operation.solve->method : Method::automatic;
}

std::vector<MethodOption> method_options(const linalg::SolverOptions& options) {
  std::vector<MethodOption> given;
  if (options.refine) given.push_back(MethodOption::refine);
  if (const auto triangle = option_of(options.stored)) given.push_back(*triangle);
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
