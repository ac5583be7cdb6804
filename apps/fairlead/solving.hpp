// The system that `fairlead solve` is asked to solve, and solving it.
#pragma once
#include <fairlead/config.hpp>

#include <memory>

#include "algorithms/linalg/symmetric_npy.hpp"
#include "data/npy/npy_file.hpp"
#include "fairlead/command_ranks.hpp"
#include "fairlead/dense_problem.hpp"

namespace fairlead::app {

/// What the command line asks for.
struct System {
  Config config;
  std::shared_ptr<const data::NpyFile> a, b;  // a: the matrix or the points that it is made of
  bool of_points = false;
  linalg::Stored stored = linalg::Stored::both;
  const DenseOperation* method = &cholesky_operation;

  /// What the solution has, as NumPy promotes: single precision if both have.
  data::ElementType solution() const;
};

/// The same for the methods that take a matrix which is not symmetric, from a file.
int solve_general(const System& system, const Config& config);

/// The same on several ranks. Throws ConfigError for what goes with one only.
int solve_over_ranks(const System& system, const Config& config, const CommandRanks& ranks);

/// Solves it, writes the solution and the reports. Returns an ExitCode.
int solve(const System& system, const Config& config);

}  // namespace fairlead::app
