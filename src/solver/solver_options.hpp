// The options of the public solver in the terms of the solver's table of methods, and as settings.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/solver.hpp>

#include <vector>

#include "solver/dense_problem.hpp"
#include "solver/method_options.hpp"

namespace fairlead::solver {

/// Null: the method is chosen by the matrix.
const DenseOperation* operation_of(linalg::Method method) noexcept;
linalg::Method method_of(const DenseOperation& operation) noexcept;

/// Those of the table that are given.
std::vector<MethodOption> method_options(const linalg::SolverOptions& options);
/// Throws UsageError if options exclude each other or the method, or are out of range.
void require_valid(const linalg::SolverOptions& options);

/// The settings that the program has given.
Config settings_of(const linalg::SolverOptions& options);
/// The same with memory and workers, if need be of the machine.
Config config_of(const linalg::SolverOptions& options);

/// A short run in core needs no durations and bandwidths that earlier runs have measured: to read them takes longer.
void set_short_run(Config& config, double flops, Bytes matrix_bytes);

}  // namespace fairlead::solver
